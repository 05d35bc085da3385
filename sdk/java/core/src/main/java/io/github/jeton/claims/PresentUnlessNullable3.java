package io.github.jeton.claims;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.AnnotatedMember;
import tools.jackson.databind.introspect.AnnotatedParameter;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;

/** The same as {@link PresentUnlessNullable}, for Jackson 3. */
final class PresentUnlessNullable3 extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1;

    @Override
    public Boolean hasRequiredMarker(MapperConfig<?> config, AnnotatedMember member) {
        return member instanceof AnnotatedParameter parameter
                ? Boolean.valueOf(!isNullable(parameter))
                : super.hasRequiredMarker(config, member);
    }

    @Override
    public JsonSetter.Value findSetterInfo(MapperConfig<?> config, Annotated annotated) {
        JsonSetter.Value own = super.findSetterInfo(config, annotated);
        boolean isOpen = own.getValueNulls() == null || own.getValueNulls() == Nulls.DEFAULT;
        return isOpen && annotated instanceof AnnotatedParameter parameter && !isNullable(parameter)
                ? own.withValueNulls(Nulls.FAIL)
                : own;
    }

    private static boolean isNullable(AnnotatedParameter parameter) {
        return NullableParameters.isNullable(parameter.getOwner().getAnnotated(), parameter.getIndex());
    }
}
