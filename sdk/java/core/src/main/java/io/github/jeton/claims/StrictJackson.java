package io.github.jeton.claims;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.exc.InvalidDefinitionException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.type.LogicalType;
import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import io.github.jeton.TokenRejectedException;
import io.github.jeton.internal.Text;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * A strict mapper for Jackson 2. It does not convert between texts and numbers, and does not round whole numbers. Every
 * component of a record must be present and not null, unless it has an annotation {@code Nullable} of any library.
 * Unknown members are ignored, because the registered claims are among them.
 */
public final class StrictJackson implements ClaimsMapper {
    private final ObjectMapper mapper;
    private final ConcurrentMap<Type, ObjectReader> readers = new ConcurrentHashMap<>();
    private final ConcurrentMap<Class<?>, ObjectWriter> writers = new ConcurrentHashMap<>();

    /** Creates a mapper with the settings of this class. */
    public StrictJackson() {
        this(strict());
    }

    private StrictJackson(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    /** Uses a mapper with its own settings. To add to the settings of this class, start with {@link #strict}. */
    public static StrictJackson with(ObjectMapper mapper) {
        return new StrictJackson(Text.required(mapper, "mapper"));
    }

    /** Returns a new mapper with the settings of this class. */
    public static ObjectMapper strict() {
        JsonMapper.Builder builder = JsonMapper.builder()
                .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
                .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
        builder.withCoercionConfig(LogicalType.Textual, config -> config
                .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail));
        builder.annotationIntrospector(new PresentUnlessNullable());
        SimpleModule numbers = new SimpleModule("jeton");
        numbers.addDeserializer(Double.class, new ExactDouble(Double.class));
        numbers.addDeserializer(double.class, new ExactDouble(double.class));
        numbers.addDeserializer(double[].class, new ExactArray<>(double[].class, new ExactDouble(double.class)));
        numbers.addDeserializer(Float.class, new ExactFloat(Float.class));
        numbers.addDeserializer(float.class, new ExactFloat(float.class));
        numbers.addDeserializer(float[].class, new ExactArray<>(float[].class, new ExactFloat(float.class)));
        return builder.addModule(numbers).build();
    }

    @Override
    public void write(Object claims, OutputStream to) throws IOException {
        ObjectWriter writer = writers.get(claims.getClass());
        if (writer == null) {
            writer = mapper.writerFor(claims.getClass()).without(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
            writers.put(claims.getClass(), writer);
        }
        try {
            writer.writeValue(to, claims);
        } catch (InvalidDefinitionException unknown) {
            throw new JetonException(
                    ErrorCode.CLAIMS_NOT_SERIALIZABLE,
                    "an object of " + claims.getClass().getName() + " cannot be written as JSON: Jackson cannot write "
                            + typeOf(unknown, claims.getClass()).getTypeName());
        }
    }

    @Override
    public Object read(byte[] json, int start, int length, Type type) throws IOException {
        ObjectReader reader = readers.get(type);
        if (reader == null) {
            reader = mapper.readerFor(mapper.constructType(type));
            readers.put(type, reader);
        }
        try {
            return reader.readValue(json, start, length);
        } catch (InvalidDefinitionException unknown) {
            Type missing = typeOf(unknown, type);
            throw new JetonException(
                    ErrorCode.INVALID_OPTION,
                    "option `mapper`: Jackson cannot read " + missing.getTypeName() + " in " + type.getTypeName() + at(unknown),
                    withoutClaims(missing));
        } catch (JsonMappingException mismatch) {
            throw new TokenRejectedException(
                    ErrorCode.TOKEN_CLAIMS_SHAPE, "the claims do not match " + type.getTypeName() + at(mismatch));
        }
    }

    /** Returns the type that Jackson cannot map. */
    private static Type typeOf(InvalidDefinitionException unknown, Type otherwise) {
        return unknown.getType() == null ? otherwise : unknown.getType().getRawClass();
    }

    /** Returns the same failure for an empty object, because the original message may repeat a claim. */
    private Throwable withoutClaims(Type type) {
        try {
            mapper.readerFor(mapper.constructType(type)).readValue("{}");
            return null;
        } catch (InvalidDefinitionException same) {
            return same;
        } catch (IOException | RuntimeException another) {
            return null;
        }
    }

    /** Returns the path of a failure, in names of the program. Names that the token chooses become a star. */
    private String at(JsonMappingException failure) {
        StringBuilder path = new StringBuilder();
        for (JsonMappingException.Reference reference : failure.getPath()) {
            if (reference.getFieldName() == null) {
                path.append("[]");
            } else {
                path.append(path.length() > 0 ? "." : "").append(isDeclared(reference) ? reference.getFieldName() : "*");
            }
        }
        return path.length() == 0 ? "" : " at `" + path + '`';
    }

    private boolean isDeclared(JsonMappingException.Reference reference) {
        Object from = reference.getFrom();
        if (from == null || from instanceof Map) {
            return false;
        }
        Class<?> type = from instanceof Class<?> named ? named : from.getClass();
        return mapper.getDeserializationConfig().introspect(mapper.constructType(type)).findProperties().stream()
                .anyMatch(property -> property.getName().equals(reference.getFieldName()));
    }

    /** Returns whether the number is not whole, or is exactly this value. */
    private static boolean isExact(JsonParser parser, double value) throws IOException {
        if (value != Math.rint(value) || value == 0) {
            return true;
        }
        if (Double.isInfinite(value)) {
            return false;
        }
        BigDecimal number = new BigDecimal(parser.getText());
        return number.stripTrailingZeros().scale() > 0 || number.compareTo(new BigDecimal(value)) == 0;
    }

    /** Rejects whole numbers that would be rounded. */
    private abstract static class ExactNumber<N extends Number> extends StdScalarDeserializer<N> {
        private static final long serialVersionUID = 1;

        ExactNumber(Class<N> type) {
            super(type);
        }

        abstract N read(JsonParser parser) throws IOException;

        @Override
        @SuppressWarnings("unchecked") // Jackson returns an object of the type
        public N deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            if (!parser.currentToken().isNumeric()) {
                return (N) context.handleUnexpectedToken(handledType(), parser);
            }
            N value = read(parser);
            return isExact(parser, value.doubleValue())
                    ? value
                    : (N) context.handleWeirdNumberValue(
                            handledType(), parser.getNumberValue(), "the number would be rounded");
        }

        @Override
        public N getNullValue(DeserializationContext context) throws JsonMappingException {
            if (handledType().isPrimitive()) {
                context.reportInputMismatch(this, "null for a primitive");
            }
            return null;
        }
    }

    private static final class ExactDouble extends ExactNumber<Double> {
        private static final long serialVersionUID = 1;

        ExactDouble(Class<Double> type) {
            super(type);
        }

        @Override
        Double read(JsonParser parser) throws IOException {
            return parser.getDoubleValue();
        }
    }

    private static final class ExactFloat extends ExactNumber<Float> {
        private static final long serialVersionUID = 1;

        ExactFloat(Class<Float> type) {
            super(type);
        }

        @Override
        Float read(JsonParser parser) throws IOException {
            return parser.getFloatValue();
        }
    }

    /**
     * Reads an array of such numbers. Jackson's own deserializer for arrays does not use the deserializer of the
     * numbers.
     */
    private static final class ExactArray<A> extends StdDeserializer<A> {
        private static final long serialVersionUID = 1;

        private final transient Class<A> type;
        private final ExactNumber<?> number;

        ExactArray(Class<A> type, ExactNumber<?> number) {
            super(type);
            this.type = type;
            this.number = number;
        }

        @Override
        public A deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            if (!parser.isExpectedStartArrayToken()) {
                return type.cast(context.handleUnexpectedToken(type, parser));
            }
            List<Number> numbers = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                try {
                    boolean isNull = parser.currentToken() == JsonToken.VALUE_NULL;
                    numbers.add(isNull ? number.getNullValue(context) : number.deserialize(parser, context));
                } catch (JsonMappingException mismatch) {
                    throw JsonMappingException.wrapWithPath(mismatch, numbers, numbers.size());
                }
            }
            A array = type.cast(Array.newInstance(type.getComponentType(), numbers.size()));
            for (int at = 0; at < numbers.size(); at++) {
                Array.set(array, at, numbers.get(at));
            }
            return array;
        }
    }
}
