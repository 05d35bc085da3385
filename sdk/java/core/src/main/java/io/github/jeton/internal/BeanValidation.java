package io.github.jeton.internal;

import io.github.jeton.ErrorCode;
import io.github.jeton.JetonException;
import io.github.jeton.TokenRejectedException;
import jakarta.validation.ConstraintDeclarationException;
import jakarta.validation.ConstraintDefinitionException;
import jakarta.validation.ConstraintViolation;
import jakarta.validation.GroupDefinitionException;
import jakarta.validation.MessageInterpolator;
import jakarta.validation.NoProviderFoundException;
import jakarta.validation.Path;
import jakarta.validation.Validation;
import jakarta.validation.ValidationException;
import jakarta.validation.Validator;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Checks the constraints of claims with Bean Validation, if the program has it and a provider. */
final class BeanValidation {
    private static final boolean IS_PRESENT = Mapping.isPresent("jakarta.validation.Validation");

    private BeanValidation() {}

    /** Throws a rejection if an object violates a constraint of its class. */
    static void check(Object claims) {
        if (IS_PRESENT) {
            Present.check(claims);
        }
    }

    /** Loaded only if Bean Validation is present. */
    private static final class Present {
        static final Validator VALIDATOR = validator();

        private static Validator validator() {
            try {
                return Validation.byDefaultProvider()
                        .configure()
                        .messageInterpolator(new WithoutMessages())
                        .buildValidatorFactory()
                        .getValidator();
            } catch (NoProviderFoundException absent) {
                return null;
            }
        }

        static void check(Object claims) {
            if (VALIDATOR == null) {
                return;
            }
            String type = claims.getClass().getTypeName();
            // The first path, so that the message is always the same.
            Map<String, String> violations = new TreeMap<>();
            try {
                if (!VALIDATOR.getConstraintsForClass(claims.getClass()).isBeanConstrained()) {
                    return;
                }
                for (ConstraintViolation<Object> violation : VALIDATOR.validate(claims)) {
                    var constraint = violation.getConstraintDescriptor().getAnnotation().annotationType();
                    violations.merge(
                            path(violation.getPropertyPath()),
                            constraint.getSimpleName(),
                            (one, other) -> one.compareTo(other) < 0 ? one : other);
                }
            } catch (ValidationException failed) {
                // Other exceptions may repeat a claim.
                boolean isOfClass = failed instanceof ConstraintDeclarationException
                        || failed instanceof ConstraintDefinitionException
                        || failed instanceof GroupDefinitionException;
                throw new JetonException(
                        ErrorCode.INVALID_OPTION,
                        "the constraints of " + type + " cannot be checked",
                        isOfClass ? failed : null);
            }
            for (var first : violations.entrySet()) {
                String at = first.getKey().isEmpty() ? "" : " at `" + first.getKey() + "`";
                throw new TokenRejectedException(
                        ErrorCode.TOKEN_CLAIMS_SHAPE,
                        "the claims do not match " + type + at + ": @" + first.getValue() + " is violated");
            }
        }

        /** Returns a path in names of the program. Names that the token chooses become a star. */
        private static String path(Path path) {
            StringBuilder text = new StringBuilder();
            for (Path.Node node : path) {
                if (node.isInIterable()) {
                    text.append(node.getKey() == null ? "[]" : ".*");
                }
                // An element of a container has no name of the program.
                if (node.getName() != null && !node.getName().startsWith("<")) {
                    text.append(text.length() > 0 ? "." : "").append(node.getName());
                }
            }
            return text.toString();
        }
    }

    /** Messages are not used. They may repeat a claim, and need a library for expressions. */
    private static final class WithoutMessages implements MessageInterpolator {
        @Override
        public String interpolate(String template, Context context) {
            return template;
        }

        @Override
        public String interpolate(String template, Context context, Locale locale) {
            return template;
        }
    }
}
