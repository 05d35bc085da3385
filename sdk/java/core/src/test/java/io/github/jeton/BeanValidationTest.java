package io.github.jeton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.jeton.testing.TestIssuer;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Email;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Claims with constraints of Bean Validation, with Hibernate Validator. */
class BeanValidationTest {
    record Role(@Pattern(regexp = "[a-z]+") String name) {}

    record Account(
            @NotBlank String name,
            @Max(10) int level,
            @Size(max = 2) List<@Valid Role> roles,
            Map<String, @Email String> mails) {}

    private final TestIssuer issuer = TestIssuer.create("https://id.example", "api");
    private final Verifier verifier = issuer.verifier().build();

    private String token(String name, int level, String role, String mail) {
        return issuer.issue(Map.of(
                "name", name, "level", level, "roles", List.of(Map.of("name", role)), "mails", Map.of("secret-key", mail)));
    }

    private void checkRejected(String token, String where) {
        var rejected = assertThrows(TokenRejectedException.class, () -> verifier.verify(token, Account.class));
        assertEquals(ErrorCode.TOKEN_CLAIMS_SHAPE, rejected.code());
        assertEquals(
                "the claims do not match " + Account.class.getTypeName() + " at " + where + " is violated",
                rejected.getMessage());
        var returned = assertInstanceOf(Verification.Rejected.class, verifier.tryVerify(token, Account.class));
        assertEquals(rejected.getMessage(), returned.message());
    }

    @Test
    void claims_that_satisfy_the_constraints_are_verified() {
        Account account = verifier.verify(token("a", 10, "admin", "a@id.example"), Account.class).claims();
        assertEquals(new Role("admin"), account.roles().get(0));
    }

    @Test
    void claims_that_violate_a_constraint_are_rejected_with_the_path() {
        checkRejected(token(" ", 10, "admin", "a@id.example"), "`name`: @NotBlank");
        checkRejected(token("a", 11, "admin", "a@id.example"), "`level`: @Max");
        checkRejected(token("a", 10, "7", "a@id.example"), "`roles[].name`: @Pattern");
        checkRejected(token("a", 10, "admin", "nobody"), "`mails.*`: @Email");
    }

    @Test
    void first_of_several_violations_is_named() {
        checkRejected(token("", 11, "7", "nobody"), "`level`: @Max");
    }

    @Test
    void maps_and_types_without_constraints_are_verified() {
        record Plain(String name) {}
        String token = token("", 11, "7", "nobody");
        assertEquals("", verifier.verify(token).toMap().get("name"));
        assertEquals("", verifier.verify(token, Plain.class).claims().name());
    }

    record Wrong(@Email int number) {}

    /** The token is valid, so this is no rejection. */
    @Test
    void constraint_that_cannot_be_checked_is_a_mistake_of_the_program() {
        String token = issuer.issue(Map.of("number", 7));
        var mistake = assertThrows(JetonException.class, () -> verifier.verify(token, Wrong.class));
        assertEquals(ErrorCode.INVALID_OPTION, mistake.code());
        assertEquals("the constraints of " + Wrong.class.getTypeName() + " cannot be checked", mistake.getMessage());
    }
}
