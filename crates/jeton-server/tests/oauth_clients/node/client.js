// Gets tokens with openid-client, by a secret and by a signed assertion, and uses, introspects and revokes one.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import * as client from 'openid-client';

const { env } = process;

function configuration(id, authentication) {
  const server = {
    issuer: env.ISSUER,
    token_endpoint: env.TOKEN_URL,
    introspection_endpoint: env.INTROSPECT_URL,
    revocation_endpoint: env.REVOKE_URL,
  };
  const made = new client.Configuration(server, id, undefined, authentication);
  // The server of the test is on loopback, without TLS.
  client.allowInsecureRequests(made);
  return made;
}

const bySecret = configuration(env.CLIENT_ID, client.ClientSecretBasic(env.CLIENT_SECRET));
const tokens = await client.clientCredentialsGrant(bySecret, { scope: 'read' });
assert.equal(tokens.scope, 'read');
const used = await client.fetchProtectedResource(bySecret, tokens.access_token, new URL(env.API_URL), 'GET');
assert.equal(used.status, 200);
console.log('used');

const introspected = await client.tokenIntrospection(bySecret, tokens.access_token);
assert.equal(introspected.active, true);
await client.tokenRevocation(bySecret, tokens.access_token);
const revoked = await client.tokenIntrospection(bySecret, tokens.access_token);
assert.equal(revoked.active, false);
console.log('revoked');

const jwk = JSON.parse(await readFile(env.SIGNER_JWK, 'utf8'));
const key = await crypto.subtle.importKey('jwk', jwk, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);
const byAssertion = configuration('signer', client.PrivateKeyJwt({ key, kid: jwk.kid }));
for (let i = 0; i < 2; i += 1) {
  const signed = await client.clientCredentialsGrant(byAssertion, { scope: 'read' });
  assert.equal(signed.token_type, 'bearer');
}
console.log('signed');
