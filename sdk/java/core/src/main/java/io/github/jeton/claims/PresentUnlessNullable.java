package io.github.jeton.claims;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.AnnotatedMember;
import com.fasterxml.jackson.databind.introspect.AnnotatedParameter;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;

/** Requires a value for record components and constructor parameters without an annotation {@code Nullable}. */
final class PresentUnlessNullable extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1;

    @Override
    public Boolean hasRequiredMarker(AnnotatedMember member) {
        return member instanceof AnnotatedParameter parameter
                ? Boolean.valueOf(!isNullable(parameter))
                : super.hasRequiredMarker(member);
    }

    @Override
    public JsonSetter.Value findSetterInfo(Annotated annotated) {
        JsonSetter.Value own = super.findSetterInfo(annotated);
        boolean isOpen = own.getValueNulls() == null || own.getValueNulls() == Nulls.DEFAULT;
        return isOpen && annotated instanceof AnnotatedParameter parameter && !isNullable(parameter)
                ? own.withValueNulls(Nulls.FAIL)
                : own;
    }

    private static boolean isNullable(AnnotatedParameter parameter) {
        return NullableParameters.isNullable(parameter.getOwner().getAnnotated(), parameter.getIndex());
    }
}
