// The habits of real key servers, from sdk/testdata/fetch.json, and a proxy.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { RemoteKeySet, Verifier } from 'jeton'

const at = path => fileURLToPath(new URL(path, import.meta.url))
const data = at('../../testdata/fetch.json')
const { token, habits } = JSON.parse(readFileSync(data, 'utf8'))
const program = process.env.JETON_KEY_SERVER
const { version } = createRequire(import.meta.url)('../package.json')
const skip = program ? false : 'JETON_KEY_SERVER does not name the key server: cargo xtask sdk node builds it'

let running
let server

before(async () => {
  if (!program) return
  const authority = join(mkdtempSync(join(tmpdir(), 'jeton-fetch-')), 'authority.pem')
  running = spawn(program, [data, authority], { stdio: ['pipe', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: running.stdout })) {
    server = JSON.parse(line)
    break
  }
})

after(() => running?.stdin.end())

async function read(path) {
  return (await fetch(server.http + path)).text()
}

async function result(keys) {
  const verifier = new Verifier({ keys, issuer: 'https://id.example', audience: 'api' })
  return verifier.verifyAsync(token).then(() => 'ok', error => error.code)
}

test('habit_of_a_key_server_has_its_result', { skip }, async () => {
  assert.ok(habits.length > 30)
  for (const { name, via, expect, requests_after_a_second: requests } of habits) {
    const base = `${server.http}/${name}`
    const keys = new RemoteKeySet(via === 'issuer' ? { issuer: base } : { address: `${base}/keys` })
    assert.equal(await result(keys), expect, name)
    if (requests === undefined) continue
    await wait(1200)
    assert.equal(await result(keys), expect, name)
    assert.equal(await read(`/${name}/count`), `${requests}`, name)
  }
  const head = (await read('/plain/head')).toLowerCase()
  assert.ok(head.includes(`\r\nuser-agent: jeton-node/${version}\r\n`), head)
})

test('proxy_of_the_option_is_used_except_for_loopback_hosts', { skip }, async () => {
  // Node reads the authorities when it starts.
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: server.authority }
  const run = promisify(execFile)
  const through = async (proxy, host) => {
    const address = `https://${host}/plain/keys`
    const { stdout } = await run(process.execPath, [at('fetch.fixture.mjs'), address, token, proxy], { env })
    return stdout.trim()
  }
  const withPassword = server.proxy.replace('http://', 'http://user:p%40ss@')
  assert.equal(await through(withPassword, 'keys.example'), 'ok')
  const head = await read('/proxy/head')
  assert.match(head, /^CONNECT keys\.example:443 /)
  assert.match(head, /proxy-authorization: basic dXNlcjpwQHNz\r\n/i)
  assert.match(head, /user-agent: jeton-node\//i)
  assert.match(await read('/plain/head'), /\r\nhost: keys\.example\r\n/i)
  assert.match(await through(server.proxy, 'refused.example'), /^KEY_SET_UNREACHABLE .*403/)
  // Nothing listens on this port.
  const closed = 'http://127.0.0.1:1'
  assert.equal(await through(closed, new URL(server.https).host), 'ok')
  assert.match(await through(closed, 'keys.example'), /^KEY_SET_UNREACHABLE/)
})

test('proxy_that_is_wrong_is_an_error', () => {
  const address = 'https://id.example/keys'
  for (const proxy of ['https://proxy.example', 'proxy.example:3128', '', 7, null, 'socks5://proxy.example', 'http://%ff@p']) {
    assert.throws(() => new RemoteKeySet({ address, proxy }), { code: 'INVALID_OPTION', message: /`proxy`/ })
  }
  const both = { address, proxy: 'http://proxy.example:3128', fetch }
  assert.throws(() => new RemoteKeySet(both), { code: 'INVALID_OPTION', message: /`proxy`/ })
})

test('http_to_another_host_needs_an_option', async () => {
  const address = 'http://keys.invalid/keys'
  assert.throws(() => new RemoteKeySet({ address }), { code: 'KEY_SET_ADDRESS' })
  // The address is allowed, and the name does not exist.
  assert.equal(await result(new RemoteKeySet({ address, allowPlainHttp: true })), 'KEY_SET_UNREACHABLE')
})
