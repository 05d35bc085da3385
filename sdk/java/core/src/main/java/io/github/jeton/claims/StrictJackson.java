package io.github.jeton.claims;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.type.LogicalType;
import io.github.jeton.internal.Text;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Jackson, strict: it converts no text to a number and no number to a text, and rounds no whole number. Every component of a record
 * must be in the claims and not null, except one with an annotation {@code Nullable} of any library. Members that the type does
 * not have are ignored, as the registered claims are among them.
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

    /**
     * Uses a mapper of the program, with the program's own settings. {@link #strict} has the settings of this class, for a mapper
     * that adds to them.
     */
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
        return builder.addModule(numbers).build();
    }

    @Override
    public void write(Object claims, OutputStream to) throws IOException {
        ObjectWriter writer = writers.get(claims.getClass());
        if (writer == null) {
            writer = mapper.writerFor(claims.getClass()).without(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
            writers.put(claims.getClass(), writer);
        }
        writer.writeValue(to, claims);
    }

    @Override
    public Object read(byte[] json, int start, int length, Type type) throws IOException {
        ObjectReader reader = readers.get(type);
        if (reader == null) {
            reader = mapper.readerFor(mapper.constructType(type));
            readers.put(type, reader);
        }
        return reader.readValue(json, start, length);
    }

    /** A double that takes no whole number which it would round. */
    private static final class ExactDouble extends StdScalarDeserializer<Double> {
        private static final long serialVersionUID = 1;

        ExactDouble(Class<?> type) {
            super(type);
        }

        @Override
        public Double deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT) {
                double value = parser.getDoubleValue();
                if (Double.isInfinite(value)
                        || new BigDecimal(value).compareTo(new BigDecimal(parser.getBigIntegerValue())) != 0) {
                    return (Double) context.handleWeirdNumberValue(
                            handledType(), parser.getNumberValue(), "the number would be rounded");
                }
                return value;
            }
            if (parser.currentToken() == JsonToken.VALUE_NUMBER_FLOAT) {
                return parser.getDoubleValue();
            }
            return (Double) context.handleUnexpectedToken(handledType(), parser);
        }

        @Override
        public Double getNullValue(DeserializationContext context)
                throws com.fasterxml.jackson.databind.JsonMappingException {
            if (handledType().isPrimitive()) {
                context.reportInputMismatch(this, "null for a primitive");
            }
            return null;
        }
    }
}
