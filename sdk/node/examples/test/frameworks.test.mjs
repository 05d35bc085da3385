// Starts each example with its framework, while an identity provider rotates its keys.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { createServer as createSocket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { Issuer, Key, KeySet } from 'jeton'

const at = path => fileURLToPath(new URL(`../${path}`, import.meta.url))
const next = createRequire(import.meta.url).resolve('next/dist/bin/next')

execFileSync(process.execPath, [at('../node_modules/typescript/bin/tsc'), '-p', at('tsconfig.json')], { stdio: 'inherit' })

/** An identity provider on this machine. */
async function provider() {
  let keys = [Key.generate('ES256', { keyId: 'first' })]
  const server = createServer((request, response) => {
    const body = request.url === '/jwks' ? new KeySet(keys).toJwks() : { issuer, jwks_uri: `${issuer}/jwks` }
    response.end(JSON.stringify(body))
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${server.address().port}`
  return {
    issuer,
    issue: (claims, options) => new Issuer({ key: keys.at(-1), issuer, audience: 'api', lifetime: 60, ...options }).issue(claims),
    rotate: () => (keys = [...keys, Key.generate('ES256', { keyId: 'second' })]),
    close: () => server.close()
  }
}

async function freePort() {
  const socket = createSocket()
  await new Promise(resolve => socket.listen(0, '127.0.0.1', resolve))
  const { port } = socket.address()
  await new Promise(resolve => socket.close(resolve))
  return port
}

/** Starts an example, and calls `use` when it responds. */
async function started(command, cwd, issuer, use) {
  const port = await freePort()
  const env = { ...process.env, ISSUER: issuer, PORT: `${port}`, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' }
  const child = spawn(process.execPath, command, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = new Promise(resolve => child.once('exit', resolve))
  const get = async token => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await fetch(`http://127.0.0.1:${port}/me`, { headers, signal: AbortSignal.timeout(60_000) })
    return [response.status, await response.json(), response.headers.get('www-authenticate')]
  }
  try {
    while (child.exitCode === null && !(await get().catch(() => undefined))) await sleep(100)
    assert.equal(child.exitCode, null)
    await use(get)
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

async function check(command, cwd = at('.')) {
  const idp = await provider()
  try {
    await started(command, cwd, idp.issuer, async get => {
      const claims = { sub: 'user-7', scope: 'read' }
      const first = idp.issue(claims)
      assert.deepEqual(await get(), [401, { error: 'unauthorized' }, 'Bearer'])
      assert.deepEqual(await get(first), [200, { subject: 'user-7' }, null])
      idp.rotate()
      for (const token of [idp.issue(claims), first]) assert.deepEqual(await get(token), [200, { subject: 'user-7' }, null])
      const expired = idp.issue({ ...claims, exp: 1 }, { lifetime: undefined })
      const rejected = { error: 'invalid_token', code: 'TOKEN_EXPIRED' }
      assert.deepEqual(await get(expired), [401, rejected, 'Bearer error="invalid_token"'])
      const challenge = 'Bearer error="insufficient_scope", scope="read"'
      assert.deepEqual(await get(idp.issue({ sub: 'user-7' })), [403, { error: 'insufficient_scope' }, challenge])
    })
    // Nothing listens at this port.
    const down = `http://127.0.0.1:${await freePort()}`
    await started(command, cwd, down, async get => {
      const body = { error: 'temporarily_unavailable', code: 'KEY_SET_UNREACHABLE' }
      assert.deepEqual(await get(idp.issue({}, { issuer: down })), [503, body, null])
    })
  } finally {
    idp.close()
  }
}

test('hono_example_has_the_documented_responses', () => check([at('.out/hono.js')]))

test('nest_example_has_the_documented_responses', () => check([at('.out/nest.js')]))

test('next_example_has_the_documented_responses', async () => {
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }
  execFileSync(process.execPath, [next, 'build'], { cwd: at('next'), env, stdio: ['ignore', 'ignore', 'inherit'] })
  await check([next, 'start'], at('next'))
})
