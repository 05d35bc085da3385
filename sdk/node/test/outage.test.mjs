// Tests key set servers that are down, slow, wrong or hostile.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import express from 'express'
import { Issuer, Key, KeySet, RemoteKeySet, Verifier } from 'jeton'
import { authOf, bearer } from 'jeton/express'
import { TestIssuer } from 'jeton/testing'

const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))

/** Rejects if `promise` takes longer. */
function within(milliseconds, promise) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still pending after ${milliseconds} ms`)), milliseconds)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

function unreachableCause(cause) {
  return error => {
    assert.equal(error.code, 'KEY_SET_UNREACHABLE')
    assert.equal(error.cause?.code ?? error.cause?.message, cause)
    return true
  }
}

test('ready_fails_without_keys_and_says_why', async () => {
  const closed = new RemoteKeySet({ address: 'http://127.0.0.1:9/jwks' })
  await assert.rejects(closed.ready(), unreachableCause('ECONNREFUSED'))
  // During the pause, the error is the same and no request is sent.
  await assert.rejects(closed.ready(), unreachableCause('ECONNREFUSED'))
  const verifier = new Verifier({ keys: closed, anyIssuer: true, anyAudience: true })
  await assert.rejects(verifier.verifyAsync('a.b.c'), unreachableCause('ECONNREFUSED'))
  assert.throws(() => verifier.verify('a.b.c'), unreachableCause('ECONNREFUSED'))
  const unnamed = new RemoteKeySet({ issuer: 'https://keys.invalid' })
  await assert.rejects(unnamed.ready(), ({ cause }) => {
    // The name server may also not answer.
    assert.match(cause?.code ?? cause?.message, /^E(NOTFOUND|AI_AGAIN)$|^no response within/)
    return true
  })
  const failing = new RemoteKeySet({
    issuer: 'https://id.example',
    fetch: async () => {
      throw new TypeError('fetch failed', { cause: new Error('certificate has expired') })
    }
  })
  await assert.rejects(failing.ready(), ({ code, cause }) => {
    assert.equal(code, 'KEY_SET_UNREACHABLE')
    assert.equal(cause.cause.message, 'certificate has expired')
    return true
  })
})

test('cause_comes_from_the_last_fetch', async () => {
  const idp = new TestIssuer()
  let fetch = async () => Promise.reject(new Error('down'))
  const keys = new RemoteKeySet({ issuer: idp.issuer, fetch: () => fetch(), cooldown: 0 })
  await within(60_000, assert.rejects(keys.ready(), unreachableCause('down')))
  fetch = async () => new Response('no', { status: 500 })
  await within(60_000, assert.rejects(keys.ready(), ({ cause }) => cause === undefined))
  const pausing = new RemoteKeySet({ issuer: idp.issuer, fetch: () => fetch() })
  await assert.rejects(pausing.ready(), unreachableCause(undefined))
})

test('server_that_never_answers_costs_one_attempt', { timeout: 240_000 }, async () => {
  let connections = 0
  const server = createServer(() => connections++)
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const sockets = new Set()
  server.on('connection', socket => sockets.add(socket))
  for (const cooldown of [undefined, 0]) {
    connections = 0
    const keys = new RemoteKeySet({ address: `http://127.0.0.1:${server.address().port}/jwks`, cooldown })
    const verifier = new Verifier({ keys, anyIssuer: true, anyAudience: true })
    const causes = await within(
      60_000,
      Promise.all([1, 2, 3].map(() => verifier.verifyAsync('a.b.c').catch(error => [error.code, error.cause.message])))
    )
    assert.deepEqual(causes[0], ['KEY_SET_UNREACHABLE', 'no response within 5000 milliseconds'])
    assert.deepEqual(causes, [causes[0], causes[0], causes[0]])
    assert.equal(connections, 1)
  }
  for (const socket of sockets) socket.destroy()
  server.close()
})

test('program_ends_while_a_server_is_silent', { timeout: 240_000 }, async () => {
  const silent = createServer()
  await new Promise(resolve => silent.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${silent.address().port}/jwks`
  const program = fileURLToPath(new URL('silent.fixture.mjs', import.meta.url))
  const ways = ['async', 'sync', 'fetch', 'hang']
  const run = way => promisify(execFile)(process.execPath, [program, way, address], { timeout: 60_000 })
  const outputs = await Promise.all(ways.map(async way => (await run(way)).stdout.trim()))
  const [unreachable, toFetch] = ['KEY_SET_UNREACHABLE', 'KEY_SET_TO_FETCH']
  assert.deepEqual(outputs, [unreachable, toFetch, unreachable, unreachable])
  silent.close()
})

test('client_that_ignores_the_signal_does_not_block_the_set', { timeout: 240_000 }, async () => {
  const idp = new TestIssuer()
  const endless = new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))
  const clients = [() => new Promise(() => {}), async () => endless]
  await Promise.all(
    clients.map(async hangs => {
      let calls = 0
      const fetch = (...request) => (calls++ === 0 ? hangs() : idp.fetch(...request))
      const verifier = idp.verifier({ keys: new RemoteKeySet({ issuer: idp.issuer, fetch }) })
      await within(60_000, assert.rejects(verifier.verifyAsync(idp.issue()), { code: 'KEY_SET_UNREACHABLE' }))
      // The pause lasts one second from the end of the failed request.
      await sleep(1200)
      await within(60_000, verifier.verifyAsync(idp.issue()))
    })
  )
})

test('client_that_returns_no_response_is_a_failure', async () => {
  const idp = new TestIssuer()
  for (const fetch of [
    () => {
      throw 7
    },
    async () => undefined,
    async () => ({}),
    async () => ({ status: undefined, headers: new Headers(), body: null }),
    async () => ({ status: 0, headers: new Headers(), body: null }),
    async () => ({ status: 2 ** 40, headers: new Headers(), body: null }),
    async () => ({ status: 200, headers: new Headers(), body: ['text'] }),
    async () => ({ status: 200, headers: new Headers(), body: null, redirected: true })
  ]) {
    const verifier = idp.verifier({ keys: new RemoteKeySet({ issuer: idp.issuer, fetch }) })
    await assert.rejects(verifier.verifyAsync(idp.issue()), error => {
      assert.equal(error.code, 'KEY_SET_UNREACHABLE', error.message)
      assert.ok(error.cause !== undefined)
      return true
    })
  }
})

test('client_is_told_which_addresses_must_be_public', async () => {
  for (const [uri, asked] of [
    ['https://keys.example/jwks', true],
    ['https://2130706433/jwks', false],
    ['https://0x7f.1/jwks', false],
    ['https://017700000001/jwks', false],
    ['https://[::ffff:7f00:1]/jwks', false],
    ['https://localhost./jwks', false],
    ['https://a.localhost/jwks', false]
  ]) {
    const seen = []
    const fetch = async (url, init) => {
      seen.push([url, init.publicOnly])
      if (url.includes('well-known')) return Response.json({ issuer: 'https://id.example', jwks_uri: uri })
      return Response.json({ keys: [Key.generate('ES256', { keyId: 'a' }).toJwk()] })
    }
    const keys = new RemoteKeySet({ issuer: 'https://id.example', fetch })
    const error = await keys.ready().catch(error => error)
    assert.deepEqual(seen[0], ['https://id.example/.well-known/openid-configuration', false])
    assert.deepEqual(seen.slice(1), asked ? [[uri, true]] : [], uri)
    assert.match(error?.code ?? '', asked ? /^$/ : /^KEY_SET_(UNREACHABLE|ADDRESS)$/)
  }
})

test('discovery_of_three_documents_and_an_unknown_key_are_one_verification', async () => {
  const issuer = 'https://id.example/realms/one'
  const [before, after] = ['a', 'b'].map(keyId => Key.generate('ES256', { keyId }))
  const seen = []
  const fetch = async url => {
    const { pathname } = new URL(url)
    seen.push(pathname)
    if (pathname === '/.well-known/openid-configuration/realms/one') {
      return Response.json({ issuer, jwks_uri: 'https://id.example/jwks' })
    }
    if (pathname !== '/jwks') return new Response(null, { status: 404 })
    const rotated = seen.filter(path => path === '/jwks').length > 1
    return Response.json(new KeySet(rotated ? [before, after] : [before]).toJwks())
  }
  const verifier = new Verifier({ keys: new RemoteKeySet({ issuer, fetch }), issuer, audience: 'api' })
  const token = new Issuer({ key: after, issuer, audience: 'api', lifetime: 60 }).issue()
  assert.equal((await verifier.verifyAsync(token)).header.keyId, 'b')
  assert.deepEqual(seen.slice(3), ['/jwks', '/jwks'])
})

function isAccepted(verifier, token) {
  try {
    return Boolean(verifier.verify(token))
  } catch {
    return false
  }
}

for (const way of ['verify', 'verifyJson', 'verifyAsync']) {
  test(`${way}_refreshes_keys_so_that_a_withdrawn_one_is_rejected`, async () => {
    const idp = new TestIssuer()
    let fetch = idp.fetch
    const keys = new RemoteKeySet({ issuer: idp.issuer, fetch: (...all) => fetch(...all), freshFor: 1, cooldown: 1 })
    const verifier = idp.verifier({ keys })
    await keys.ready()
    const token = idp.issue()
    verifier.verify(token)
    fetch = async (...all) => {
      if (String(all[0]).includes('well-known')) return idp.fetch(...all)
      return Response.json(new KeySet([Key.generate('ES256', { keyId: 'new' })]).toJwks())
    }
    await sleep(1200)
    await verifier[way](token)
    for (let wait = 0; wait < 600 && isAccepted(verifier, token); wait++) await sleep(100)
    assert.throws(() => verifier.verify(token), error => /^(TOKEN_UNKNOWN_KEY|KEY_SET_TO_FETCH)$/.test(error.code))
    await assert.rejects(verifier.verifyAsync(token), { code: 'TOKEN_UNKNOWN_KEY' })
  })
}

test('keys_that_are_never_fresh_are_not_fetched_endlessly', async () => {
  const idp = new TestIssuer()
  const keys = new RemoteKeySet({ issuer: idp.issuer, fetch: idp.fetch, freshFor: 0, cooldown: 0 })
  await within(60_000, keys.ready())
  await within(60_000, idp.verifier({ keys }).verifyAsync(idp.issue()))
  assert.ok(idp.requests < 12, `${idp.requests}`)
})

test('verifiers_outlive_their_set', async () => {
  const idp = new TestIssuer()
  const keys = new RemoteKeySet({ issuer: idp.issuer, fetch: idp.fetch, cooldown: 0 })
  const verifier = idp.verifier({ keys })
  keys.close()
  // The first verification, and a verification with a new key.
  await verifier.verifyAsync(idp.issue())
  verifier.verify(idp.issue())
  idp.rotate()
  assert.equal((await verifier.verifyAsync(idp.issue())).header.keyId, 'test-2')
  await assert.rejects(keys.ready(), { name: 'JetonError', code: 'ARGUMENT_HANDLE' })
  assert.throws(() => idp.verifier({ keys }), { name: 'JetonError', code: 'ARGUMENT_HANDLE' })
  keys.close()
})

test('middleware_responds_503_without_keys_and_500_if_closed', async () => {
  const idp = new TestIssuer()
  const of = set => new RemoteKeySet({ issuer: idp.issuer, fetch: (...all) => reply(set, idp, all) })
  const large = `{"keys":[],"x":"${'a'.repeat(2_000_000)}"}`
  const sets = {
    html: '<html>', empty: '{}', none: '{"keys":[]}', unusable: '{"keys":[{"kty":"x"}]}', text: 'no', large, missing: 404,
    failing: 500, moved: 302, down: new Error('down'), private: 'private'
  }
  const app = express()
  for (const [name, set] of Object.entries(sets)) {
    app.get(`/${name}`, bearer({ verifier: idp.verifier({ keys: of(set) }) }), (_, response) => response.json({}))
  }
  const closed = idp.verifier()
  closed.close()
  app.get('/closed', bearer({ verifier: closed }), (_, response) => response.json({}))
  app.get('/', bearer({ verifier: idp.verifier() }), (request, response) => response.json(authOf(request).claims))
  app.use((error, _request, response, _next) => response.status(500).json({ code: error.code }))
  const server = app.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const get = async name => {
    const headers = { authorization: `Bearer ${idp.issue()}` }
    const response = await fetch(`http://127.0.0.1:${server.address().port}/${name}`, { headers })
    return [response.status, response.headers.get('www-authenticate'), await response.json()]
  }
  for (const name of Object.keys(sets)) {
    // The second response comes from the remembered error.
    for (let i = 0; i < 2; i++) {
      const [status, challenge, { error, code }] = await get(name)
      assert.deepEqual([name, status, challenge, error], [name, 503, null, 'temporarily_unavailable'])
      assert.match(code, /^(KEY|DISCOVERY)_/)
    }
  }
  assert.deepEqual(await get('closed'), [500, null, { code: 'ARGUMENT_HANDLE' }])
  assert.equal((await get(''))[0], 200)
  server.close()
  server.closeAllConnections()
})

/** Responds with a set or a status, or fails. */
async function reply(set, idp, request) {
  if (set instanceof Error) throw set
  if (typeof set === 'number') return new Response(null, { status: set })
  if (set === 'private') return Response.json({ issuer: idp.issuer, jwks_uri: 'https://10.0.0.1/jwks' })
  return String(request[0]).includes('well-known') ? idp.fetch(...request) : new Response(set)
}

test('options_of_the_middleware_are_checked', () => {
  const verifier = new TestIssuer().verifier()
  for (const options of [
    {}, { verifier: {} }, { verifier, scope: ['admin'] }, { verifier, scopes: 'admin' }, { verifier, scopes: [7] },
    { verifier, optional: 'no' }, { verifier, realm: 7 }, undefined
  ]) {
    assert.throws(() => bearer(options), { name: 'JetonError', code: 'INVALID_OPTION' })
  }
})

test('signal_stops_waiting_for_keys', async () => {
  const idp = new TestIssuer()
  let respond
  const answered = new Promise(resolve => (respond = resolve))
  const fetch = (...request) => answered.then(() => idp.fetch(...request))
  const verifier = idp.verifier({ keys: new RemoteKeySet({ issuer: idp.issuer, fetch }) })
  const token = idp.issue()
  const reason = new Error('the client has left')
  const controller = new AbortController()
  const [stopped, waiting] = [{ signal: controller.signal }, {}].map(options => verifier.verifyAsync(token, options))
  controller.abort(reason)
  await assert.rejects(stopped, error => error === reason)
  await assert.rejects(verifier.verifyAsync(token, { signal: AbortSignal.abort(reason) }), error => error === reason)
  await assert.rejects(verifier.verifyAsync(token, { signal: AbortSignal.timeout(1) }), { name: 'TimeoutError' })
  // Other callers get the keys of the same fetch.
  respond()
  assert.equal((await waiting).issuer, idp.issuer)
  const { signal } = new AbortController()
  assert.equal((await verifier.verifyAsync(token, { signal })).issuer, idp.issuer)
  await assert.rejects(verifier.verifyAsync('abc', { signal }), { code: 'TOKEN_MALFORMED' })
  for (const options of [{ signal: {} }, { signal: null }, { signl: signal }, null, 7]) {
    await assert.rejects(verifier.verifyAsync(token, options), { code: 'INVALID_OPTION' })
  }
})
