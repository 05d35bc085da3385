import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import express from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import { Issuer, Key, RemoteKeySet, Verifier } from 'jeton'
import { authenticator } from 'jeton/bearer'
import * as forExpress from 'jeton/express'
import * as forFastify from 'jeton/fastify'
import { TestIssuer } from 'jeton/testing'
import Koa from 'koa'

import { isPublic } from '../dist/fetching.js'

test('discovery_then_keys_are_fetched_for_the_first_token', async () => {
  const idp = new TestIssuer()
  const verifier = idp.verifier({ keys: idp.remoteKeys() })
  assert.throws(() => verifier.verify(idp.issue()), { code: 'KEY_SET_TO_FETCH' })
  assert.equal((await verifier.verifyAsync(idp.issue({ sub: 'a' }))).subject, 'a')
  assert.equal(verifier.verify(idp.issue()).issuer, idp.issuer)
  assert.equal(idp.requests, 2)
})

test('unknown_key_id_fetches_again', async () => {
  const idp = new TestIssuer()
  const keys = new RemoteKeySet({ issuer: idp.issuer, fetch: idp.fetch, cooldown: 0 })
  const verifier = idp.verifier({ keys })
  await keys.ready()
  await verifier.verifyAsync(idp.issue())
  idp.rotate()
  assert.equal((await verifier.verifyAsync(idp.issue())).header.keyId, 'test-2')
})

test('unknown_key_without_a_cooldown_is_fetched_once_per_call', async () => {
  const idp = new TestIssuer()
  let isDown = false
  const fetch = (...request) => (isDown ? Promise.resolve(new Response('no', { status: 500 })) : idp.fetch(...request))
  const keys = new RemoteKeySet({ issuer: idp.issuer, fetch, cooldown: 0 })
  const verifier = idp.verifier({ keys })
  await verifier.verifyAsync(idp.issue())
  const token = idp.issue({}, { key: Key.generate('ES256', { keyId: 'unknown' }) })
  const unknown = { name: 'JetonError', code: 'TOKEN_UNKNOWN_KEY' }
  let before = idp.requests
  for (let call = 1; call <= 3; call++) {
    await assert.rejects(verifier.verifyAsync(token), unknown)
    assert.equal(idp.requests, before + call)
  }
  // The second call knows what the fetch of the first has found.
  before = idp.requests
  assert.throws(() => verifier.verify(token), { code: 'KEY_SET_TO_FETCH' })
  await until(() => idp.requests === before + 1)
  await until(() => codeOf(() => verifier.verify(token)) !== 'KEY_SET_TO_FETCH')
  assert.equal(idp.requests, before + 1)
  // Calls at the same time share their fetches.
  before = idp.requests
  const calls = Array.from({ length: 50 }, () => verifier.verifyAsync(token).catch(({ code }) => code))
  assert.deepEqual(new Set(await Promise.all(calls)), new Set(['TOKEN_UNKNOWN_KEY']))
  assert.ok(idp.requests - before < 10, `${idp.requests - before}`)
  isDown = true
  await assert.rejects(verifier.verifyAsync(token), unknown)
  isDown = false
  idp.rotate()
  await verifier.verifyAsync(idp.issue())
})

test('failed_fetch_without_a_cooldown_is_reported_after_one_request', async () => {
  const idp = new TestIssuer()
  const failing = async () => new Response('no', { status: 500 })
  for (const respond of [failing, () => Promise.reject(new Error('down'))]) {
    let requests = 0
    const fetch = () => {
      requests++
      return respond()
    }
    const keys = new RemoteKeySet({ address: 'https://id.example/jwks', fetch, cooldown: 0 })
    const verifier = idp.verifier({ keys })
    for (let call = 1; call <= 3; call++) {
      await assert.rejects(verifier.verifyAsync(idp.issue()), { code: 'KEY_SET_UNREACHABLE' })
      assert.equal(requests, call)
    }
    await assert.rejects(keys.ready(), { code: 'KEY_SET_UNREACHABLE' })
    assert.equal(requests, 4)
  }
})

/** Waits for a condition, up to a minute. */
async function until(condition) {
  for (let wait = 0; wait < 6000; wait++) {
    if (condition()) return
    await sleep(10)
  }
  assert.fail('the condition is never met')
}

function codeOf(run) {
  try {
    run()
    return ''
  } catch ({ code }) {
    return code
  }
}

test('many_first_verifications_share_the_requests', async () => {
  const idp = new TestIssuer()
  const verifier = idp.verifier({ keys: idp.remoteKeys() })
  const token = idp.issue()
  await Promise.all(Array.from({ length: 200 }, () => verifier.verifyAsync(token)))
  assert.equal(idp.requests, 2)
})

test('failed_fetch_is_an_error_with_its_code', async () => {
  const idp = new TestIssuer()
  const responses = [
    async () => {
      throw new Error('no network')
    },
    async () => new Response('no', { status: 500 }),
    async () => new Response('{'),
    async () => new Response('a'.repeat(9_000_000)),
    async () => Response.redirect('https://other.example/', 302)
  ]
  for (const fetch of responses) {
    const verifier = idp.verifier({ keys: new RemoteKeySet({ issuer: idp.issuer, fetch }) })
    await assert.rejects(verifier.verifyAsync(idp.issue()), { name: 'JetonError', code: /^(KEY_SET|DISCOVERY)_/ })
  }
})

/** Serves `listener` on this machine while `use` runs. */
async function serving(listener, use) {
  const server = createServer(listener)
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    return await use(`http://127.0.0.1:${server.address().port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('built_in_client_fetches_over_http', async () => {
  const key = Key.generate('ES256', { keyId: 'a' })
  const seen = []
  const listener = (request, response) => {
    seen.push(request.headers)
    response.setHeader('ETag', '"1"')
    response.end(JSON.stringify({ keys: [key.toJwk()] }))
  }
  await serving(listener, async address => {
    const keys = new RemoteKeySet({ address: `${address}/jwks` })
    const verifier = new Verifier({ keys, anyIssuer: true, anyAudience: true })
    const token = new Issuer({ key, lifetime: 60 }).issue()
    await verifier.verifyAsync(token)
    assert.equal(seen.length, 1)
  })
  const large = (_, response) => response.end('a'.repeat(9_000_000))
  await serving(large, async address => {
    const keys = new RemoteKeySet({ address: `${address}/jwks` })
    const verifier = new Verifier({ keys, anyIssuer: true, anyAudience: true })
    await assert.rejects(verifier.verifyAsync(new Issuer({ key, lifetime: 60 }).issue()), { code: 'KEY_TOO_LARGE' })
  })
})

test('address_that_an_issuer_publishes_must_be_public', async () => {
  let asked = 0
  const jwks = (_, response) => {
    asked++
    response.end('{"keys":[]}')
  }
  await serving(jwks, async inside => {
    const metadata = (request, response) => {
      const issuer = `http://${request.headers.host}`
      response.end(JSON.stringify({ issuer, jwks_uri: `${inside}/jwks` }))
    }
    await serving(metadata, async issuer => {
      const verifier = new Verifier({ keys: new RemoteKeySet({ issuer }), anyIssuer: true, anyAudience: true })
      const token = new Issuer({ key: Key.generate('ES256', { keyId: 'a' }), lifetime: 60 }).issue()
      await assert.rejects(verifier.verifyAsync(token), { code: /^(KEY_SET|DISCOVERY)_/ })
    })
  })
  assert.ok(asked <= 1)
})

/** Checks the responses that both frameworks must share. */
async function checkResponses(address, idp) {
  const get = async (path, authorization) => {
    const response = await fetch(address + path, authorization ? { headers: { authorization } } : {})
    return [response.status, response.headers.get('www-authenticate'), await response.json()]
  }
  const good = idp.issue({ sub: 'user-7', scope: 'read write' })
  assert.deepEqual(await get('/me', `Bearer ${good}`), [200, null, { subject: 'user-7' }])
  idp.rotate()
  const next = idp.issue({ sub: 'user-7', scope: 'read' })
  for (const token of [next, good]) {
    assert.deepEqual(await get('/me', `bearer ${token}`), [200, null, { subject: 'user-7' }])
  }
  assert.deepEqual(await get('/me'), [401, 'Bearer realm="api"', { error: 'unauthorized' }])
  for (const wrong of ['Basic abc', 'Bearer', `Bearer ${good} more`]) {
    assert.deepEqual((await get('/me', wrong)).slice(0, 2), [401, 'Bearer realm="api", error="invalid_request"'])
  }
  for (const [token, code] of [
    [idp.issueExpired({ scope: 'read' }), 'TOKEN_EXPIRED'],
    [idp.issueForged({ scope: 'read' }), 'TOKEN_INVALID_SIGNATURE'],
    ['abc', 'TOKEN_MALFORMED']
  ]) {
    const body = { error: 'invalid_token', code }
    assert.deepEqual(await get('/me', `Bearer ${token}`), [401, 'Bearer realm="api", error="invalid_token"', body])
  }
  assert.deepEqual(await get('/me', `Bearer ${idp.issue({ sub: 'a', scope: 'reading' })}`), [
    403,
    'Bearer realm="api", error="insufficient_scope", scope="read"',
    { error: 'insufficient_scope' }
  ])
}

/** A verifier that fetches the keys. */
function remote(idp) {
  return idp.verifier({ keys: idp.remoteKeys() })
}

/** A verifier whose error is not about the token: it is closed. */
function broken(idp) {
  const verifier = idp.verifier()
  verifier.close()
  return verifier
}

for (const [name, framework] of Object.entries({ express, express4 })) {
  test(`${name}_lets_verified_requests_pass`, async () => {
    const idp = new TestIssuer()
    const app = framework()
    const { bearer, authOf } = forExpress
    app.get('/me', bearer({ verifier: remote(idp), scopes: ['read'], realm: 'api' }), (request, response) => {
      response.json({ subject: authOf(request).subject })
    })
    app.get('/down', bearer({ verifier: unreachable(idp) }), (_, response) => response.json({}))
    app.get('/broken', bearer({ verifier: broken(idp) }), (_, response) => response.json({}))
    app.get('/open', bearer({ verifier: remote(idp), optional: true }), (request, response) => {
      response.json({ is: request.auth === undefined })
    })
    app.use((error, _request, response, _next) => response.status(500).json({ code: error.code }))
    await serving(app, async address => {
      await checkResponses(address, idp)
      await checkOthers(address, idp)
    })
  })
}

test('koa_lets_verified_requests_pass', async () => {
  const idp = new TestIssuer()
  const app = new Koa()
  const routes = {
    '/me': { verifier: remote(idp), scopes: ['read'], realm: 'api' },
    '/down': { verifier: unreachable(idp) },
    '/broken': { verifier: broken(idp) },
    '/open': { verifier: remote(idp), optional: true }
  }
  const authenticators = Object.fromEntries(Object.entries(routes).map(([path, one]) => [path, authenticator(one)]))
  app.use(async (context, next) => {
    try {
      await next()
    } catch (error) {
      context.status = 500
      context.body = { code: error.code }
    }
  })
  app.use(async context => {
    const { verified, refusal } = await authenticators[context.path](context.req)
    if (refusal) {
      context.status = refusal.status
      context.set(refusal.headers)
      context.body = refusal.body
      return
    }
    context.body = context.path === '/me' ? { subject: verified.subject } : { is: verified === undefined }
  })
  await serving(app.callback(), async address => {
    await checkResponses(address, idp)
    await checkOthers(address, idp)
  })
})

test('fetch_request_is_authenticated', async () => {
  const idp = new TestIssuer()
  const authenticate = authenticator({ verifier: idp.verifier() })
  const answer = headers => authenticate(new Request('http://localhost/', { headers }))
  const authorization = `Bearer ${idp.issue({ sub: 'user-7' })}`
  assert.equal((await answer({ authorization })).verified.subject, 'user-7')
  for (const headers of [{}, { authorization: 'Basic YTpi' }, [['authorization', authorization], ['authorization', authorization]]]) {
    const { refusal } = await answer(headers)
    const response = Response.json(refusal.body, refusal)
    assert.equal(response.status, 401)
    assert.match(response.headers.get('www-authenticate'), /^Bearer/)
  }
})

test('fastify_lets_verified_requests_pass', async () => {
  const idp = new TestIssuer()
  const app = fastify()
  app.setErrorHandler((error, _, reply) => reply.code(500).send({ code: error.code }))
  await app.register(async part => {
    await part.register(forFastify.bearer({ verifier: remote(idp), scopes: ['read'], realm: 'api' }))
    part.get('/me', async request => ({ subject: forFastify.authOf(request).subject }))
  })
  await app.register(async part => {
    await part.register(forFastify.bearer({ verifier: unreachable(idp) }))
    part.get('/down', async () => ({}))
  })
  await app.register(async part => {
    await part.register(forFastify.bearer({ verifier: broken(idp) }))
    part.get('/broken', async () => ({}))
  })
  await app.register(async part => {
    await part.register(forFastify.bearer({ verifier: remote(idp), optional: true }))
    part.get('/open', async request => {
      try {
        forFastify.authOf(request)
        return { is: false }
      } catch {
        return { is: true }
      }
    })
  })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  await checkResponses(address, idp)
  await checkOthers(address, idp)
  await app.close()
})

async function checkOthers(address, idp) {
  const broken = { headers: { authorization: `Bearer ${idp.issue()}` }, signal: AbortSignal.timeout(30_000) }
  const failed = await fetch(`${address}/broken`, broken)
  assert.deepEqual([failed.status, await failed.json()], [500, { code: 'ARGUMENT_HANDLE' }])
  const down = await fetch(`${address}/down`, { headers: { authorization: `Bearer ${idp.issue()}` } })
  assert.equal(down.status, 503)
  assert.equal((await (await fetch(`${address}/open`)).json()).is, true)
  const headers = { authorization: `Bearer ${idp.issue()}` }
  assert.equal((await (await fetch(`${address}/open`, { headers })).json()).is, false)
  for (const authorization of ['Bearer x', 'Bearer', 'Basic YTpi', 'Bearer a b']) {
    assert.equal((await fetch(`${address}/open`, { headers: { authorization } })).status, 401)
  }
  // Node keeps only the first of two headers.
  const good = `Authorization: Bearer ${idp.issue()}`
  for (const lines of [[good, good], [good, 'Authorization: Basic YTpi'], ['authorization: x', good]]) {
    assert.match(await rawAnswer(address, lines), /^HTTP\/1\.1 401 /)
  }
  assert.match(await rawAnswer(address, [good]), /^HTTP\/1\.1 200 /)
}

/** Sends a request with these header lines as they are, and returns the response. */
function rawAnswer(address, lines) {
  const { port } = new URL(address)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1')
    let text = ''
    socket.on('data', part => (text += part))
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
    socket.end(['GET /open HTTP/1.1', 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n'))
  })
}

test('special_addresses_are_not_public', () => {
  const rows = readFileSync(new URL('../../testdata/addresses.txt', import.meta.url), 'utf8').trim().split('\n')
  const pairs = rows.filter(row => !row.startsWith('#')).map(row => row.split(' '))
  assert.ok(pairs.length > 50)
  for (const [kind, address] of pairs) assert.equal(isPublic(address), kind === 'public', address)
  assert.equal(isPublic('fe80::1%eth0'), false)
})

function unreachable(idp) {
  const fetch = async () => new Response(null, { status: 500 })
  return idp.verifier({ keys: new RemoteKeySet({ issuer: idp.issuer, fetch }) })
}
