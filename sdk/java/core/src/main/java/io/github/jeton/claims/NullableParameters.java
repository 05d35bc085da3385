package io.github.jeton.claims;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Executable;
import java.util.stream.Stream;

/** Finds the annotation {@code Nullable} of any library. */
final class NullableParameters {
    private NullableParameters() {}

    /** Returns whether a parameter has it: on the parameter, or on its type (JSpecify). */
    static boolean isNullable(AnnotatedElement owner, int index) {
        if (!(owner instanceof Executable executable)) {
            return false;
        }
        var types = executable.getAnnotatedParameterTypes();
        Stream<Annotation> onType = index < types.length ? Stream.of(types[index].getAnnotations()) : Stream.empty();
        var all = executable.getParameterAnnotations();
        Stream<Annotation> onParameter = index < all.length ? Stream.of(all[index]) : Stream.empty();
        return Stream.concat(onType, onParameter)
                .anyMatch(annotation -> annotation.annotationType().getSimpleName().equals("Nullable"));
    }
}
