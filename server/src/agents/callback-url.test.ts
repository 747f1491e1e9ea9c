import { expect, test } from 'vitest'
import { addressFault, callbackUrlFault } from './callback-url.ts'

const fine = undefined

/** A place, and whether a sandbox on its own machine and live may call it. */
test.each([
  ['a public address', 'https://203.0.114.7/cb', true, true],
  ['a public address, with port and query', 'https://198.41.0.4:8443/cb?x=1', true, true],
  ['a public v6 address', 'https://[2a00:1450:4001::1]/cb', true, true],
  ['plain http', 'http://198.41.0.4/cb', true, false],
  ['localhost', 'https://localhost/cb', true, false],
  ['localhost with a dot', 'https://localhost./cb', true, false],
  ['a name under localhost', 'https://shop.localhost/cb', true, false],
  ['loopback', 'https://127.0.0.1/cb', true, false],
  ['loopback as one number', 'https://2130706433/cb', true, false],
  ['loopback in hex', 'https://0x7f.1/cb', true, false],
  ['loopback in v6', 'https://[::1]/cb', true, false],
  ['loopback as mapped v4', 'https://[::ffff:127.0.0.1]/cb', true, false],
  ['a private network', 'https://10.1.2.3/cb', true, false],
  ['another private network', 'https://192.168.1.1/cb', true, false],
  ['a private v6 network', 'https://[fd12:3456::1]/cb', true, false],
  ['cloud metadata', 'https://169.254.169.254/latest', false, false],
  ['cloud metadata as one number', 'https://2852039166/latest', false, false],
  ['cloud metadata as mapped v4', 'https://[::ffff:169.254.169.254]/', false, false],
  ['cloud metadata as 6to4', 'https://[2002:a9fe:a9fe::1]/', false, false],
  ['cloud metadata behind NAT64', 'https://[64:ff9b::a9fe:a9fe]/', false, false],
  ['cloud metadata in v6', 'https://[fd00:ec2::254]/', false, false],
  ['another cloud in v6', 'https://[fd20:ce::254]/', false, false],
  ['cloud metadata at a public address', 'https://168.63.129.16/machine', false, false],
  ['the same as 6to4', 'https://[2002:a83f:8110::1]/', false, false],
  ['link-local v6', 'https://[fe80::1]/', false, false],
  ['the unspecified address', 'https://0.0.0.0/', false, false],
  ['the unspecified v6 address', 'https://[::]/', false, false],
  ['multicast', 'https://224.0.0.1/', false, false],
  ['broadcast', 'https://255.255.255.255/', false, false],
  ['carrier-grade NAT', 'https://100.64.0.1/', false, false],
  ['another protocol', 'ftp://198.41.0.4/cb', false, false],
  ['a script', 'javascript:alert(1)', false, false],
  ['a file', 'file:///etc/passwd', false, false],
  ['no URL at all', 'not a url', false, false],
  ['nothing', '', false, false],
  ['a user name', 'https://user@198.41.0.4/cb', false, false],
  ['a password', 'https://:secret@198.41.0.4/cb', false, false],
  ['a fragment', 'https://198.41.0.4/cb#x', false, false],
])('%s may be called: %s', async (_what, url, inSandbox, inLive) => {
  expect((await callbackUrlFault(url, 'near')) === fine).toBe(inSandbox)
  expect((await callbackUrlFault(url, 'secure')) === fine).toBe(inLive)
  // A sandbox that others reach calls what live calls, and plain http.
  const overTls = url.replace(/^http:/, 'https:')
  expect((await callbackUrlFault(url, 'public')) === fine).toBe(
    (await callbackUrlFault(overTls, 'secure')) === fine,
  )
})

test('a name that does not resolve yet is taken', async () => {
  expect(await callbackUrlFault('https://shop.invalid/cb', 'secure')).toBe(fine)
})

test('a fault never repeats a password', async () => {
  const fault = await callbackUrlFault('https://user:hunter2@198.41.0.4/', 'secure')
  expect(fault).toBe('must not hold a user name or password')
})

test('the fault names the address behind an embedding one', () => {
  expect(addressFault('2002:a9fe:a9fe::1', 'near')).toContain('169.254.169.254')
  expect(addressFault('2001:0:0:0:0:0:5601:5601', 'secure')).toContain('169.254.169.254')
})
