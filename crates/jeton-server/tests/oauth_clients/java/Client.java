import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import org.springframework.security.oauth2.client.endpoint.OAuth2ClientCredentialsGrantRequest;
import org.springframework.security.oauth2.client.endpoint.RestClientClientCredentialsTokenResponseClient;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.core.OAuth2AccessToken;

/** Gets a token with Spring Security, with the settings of the guide, and uses it. */
class Client {
    public static void main(String[] arguments) throws Exception {
        ClientRegistration registration =
                ClientRegistration.withRegistrationId("jeton")
                        .tokenUri(System.getenv("TOKEN_URL"))
                        .clientId(System.getenv("CLIENT_ID"))
                        .clientSecret(System.getenv("CLIENT_SECRET"))
                        .clientAuthenticationMethod(new ClientAuthenticationMethod("client_secret_basic"))
                        .authorizationGrantType(new AuthorizationGrantType("client_credentials"))
                        .scope("read")
                        .build();
        OAuth2AccessToken token =
                new RestClientClientCredentialsTokenResponseClient()
                        .getTokenResponse(new OAuth2ClientCredentialsGrantRequest(registration))
                        .getAccessToken();
        if (token.getTokenType() != OAuth2AccessToken.TokenType.BEARER
                || !token.getExpiresAt().isAfter(Instant.now())) {
            throw new AssertionError("type " + token.getTokenType().getValue() + ", expiry " + token.getExpiresAt());
        }
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(System.getenv("API_URL")))
                        .header("Authorization", "Bearer " + token.getTokenValue())
                        .build();
        HttpResponse<Void> response =
                HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());
        if (response.statusCode() != 200) {
            throw new AssertionError("status " + response.statusCode());
        }
        System.out.println("used");
    }
}
