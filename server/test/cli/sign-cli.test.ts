import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { vectors } from '../../../sdk/test/vectors.ts'
import { cleanUp, root, start } from '../support/process.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-sign-'))
const program = join(root, 'server/bin/sluice.js')
const secret = 'sk_test_5f1c7a0b9d3e4c2f8a6b1d0e7c9f3a5b'
const at = '2026-01-01T00:00:00Z'
const deposit = vector('a deposit')
const outcome = vector('an outcome')

afterAll(async () => {
  await cleanUp()
  rmSync(folder, { recursive: true })
})

function vector(name: string) {
  const found = vectors.signed.find((each) => each.name === name)
  if (!found) throw new Error(`no vector ${name}`)
  return found
}

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const secretFile = file('secret', `${secret}\n`)
const run = (args: string[], input = '') =>
  start(process.execPath, [program, 'sign', ...args], { input }).ended
const forDeposit = ['--path', '/payment/deposit', '--body', deposit.body]
const pasted = (head: string, body: string) => `${head}\nx-signature: ${deposit.header}\n\n${body}`

describe('sign', () => {
  test('makes the header of a request and of a callback, and shows what is signed', async () => {
    const [request, callback] = await Promise.all([
      run([...forDeposit, '--time', deposit.t, '--secret-file', secretFile, '--bytes']),
      run(
        ['--callback', '--body-file', '-', '--time', outcome.t, '--secret', secret, '--json'],
        outcome.body,
      ),
    ])
    expect(request).toMatchObject({ code: 0, stderr: '' })
    expect(request.stdout).toContain(`signed       ${deposit.t}.POST /payment/deposit.{"refId":`)
    expect(request.stdout).toContain(
      '\n     0  31 37 36 37 32 32 35 36 30 30 2e 50 4f 53 54 20  1767225600.POST \n',
    )
    expect(request.stdout).toMatch(new RegExp(`\nx-signature {2}${deposit.header}\n$`))
    expect(JSON.parse(callback.stdout)).toMatchObject({
      signed: `${outcome.t}.${outcome.body}`,
      header: outcome.header,
    })
  })

  test('takes the secret from stdin, and several of them', async () => {
    const rotated = vector('an outcome while a key is rotated, newest first')
    const args = [
      '--callback',
      '--body',
      rotated.body,
      '--time',
      rotated.t,
      '--secret-file',
      '-',
      '--json',
    ]
    const { stdout } = await run(args, `${rotated.secrets.join('\r\n')}\r\n`)
    expect(JSON.parse(stdout).header).toBe(rotated.header)
  })

  test('asks for the secret on a terminal without showing it, even where stdin is taken', async () => {
    const body = file('body', deposit.body)
    const command = `cat ${body} | ${process.execPath} ${program} sign --path /payment/deposit --time ${deposit.t} --body-file -`
    // A terminal of its own, in which the secret is typed once it is asked for.
    const asked = start('script', ['-qec', command, '/dev/null'], { stdin: true })
    await expect.poll(() => asked.stdout).toContain('secret: ')
    asked.child.stdin?.write(`${secret}\r`)
    await expect.poll(() => asked.stdout).toContain(deposit.header)
    asked.child.stdin?.end()
    expect((await asked.ended).code).toBe(0)
    expect(asked.stdout).not.toContain(secret)
  })
})

describe('sign --check', () => {
  const check = (args: string[], input?: string) =>
    run(['--check', '--secret-file', secretFile, '--at', at, ...args], input)

  test('a message that was pasted holds, whole or in parts', async () => {
    const length = `content-length: ${deposit.body.length}`
    const ended = await Promise.all([
      check(
        ['--message', '-'],
        pasted(`POST /payment/deposit HTTP/1.1\r\nHost: x\n${length}`, `${deposit.body}\n`),
      ),
      check(
        ['--message', '-'],
        pasted('> POST /payment/deposit HTTP/1.1\n> host: x', deposit.body),
      ),
      check([...forDeposit, '--header', `X-Signature: ${deposit.header}`]),
      check([
        '--callback',
        '--body',
        outcome.body,
        '--header',
        `x-signature:${outcome.header}`,
        'x-appid: app_1',
      ]),
    ])
    for (const { code, stdout } of ended) {
      expect(stdout).toContain('The signature holds.')
      expect(code).toBe(0)
    }
  })

  test('says why one does not hold, with the first byte that differs', async () => {
    const message = file('message', pasted('POST /payment/deposit HTTP/1.1', `${deposit.body}\n`))
    const [text, json] = await Promise.all([
      check(['--message', message]),
      check(['--message', message, '--json']),
    ])
    const end = `${deposit.t}.POST /payment/deposit.${deposit.body}`.length
    expect(text).toMatchObject({ code: 1, stderr: '' })
    expect(text.stdout).toContain(`got          ${deposit.header}\n`)
    expect(text.stdout).toMatch(
      /The signature does not hold\.\n- A line break .* \(trailing_newline\)\n/,
    )
    expect(text.stdout).toContain(`has ${end} bytes and differs from byte ${end} on:`)
    expect(text.stdout).toMatch(/ {2}expected {3}0a +\\n\n {2}got {8}\(its end\)\n$/)
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      got: deposit.header,
      causes: [{ code: 'trailing_newline' }],
      first_difference: end,
    })
    expect(text.stdout + json.stdout).not.toContain(secret)
  })

  test('tells how far the clock is off, by this clock unless a time is named', async () => {
    const args = [
      '--check',
      ...forDeposit,
      '--header',
      `x-signature: ${deposit.header}`,
      '--secret',
      secret,
    ]
    const { code, stdout } = await run([...args, '--at', '2026-01-01T01:00:00Z'])
    expect(code).toBe(1)
    expect(stdout).toContain('The clock is off by 3600 seconds')
    expect((await run(args)).stdout).toContain('(clock_off)')
  })
})

test.each<[args: string[], says: RegExp]>([
  [['--body', '{}', '--secret', 'a'], /--path is missing; for a callback say --callback/],
  [['--path', 'http://x/y', '--secret', 'a'], /signed without the host/],
  [['--path', '/x', '--time', 'noon', '--secret', 'a'], /--time must be unix seconds/],
  [['--path', '/x', '--secret', 'a', '--secret-file', 'b'], /not by both/],
  [['--path', '/x', '--secret-file', '/nowhere'], /\/nowhere cannot be read/],
  [['--path', '/x', '--secret-file', '-'], /the secret is empty/],
  [
    ['--path', '/x', '--body-file', '-', '--secret-file', '-'],
    /only one thing can come from stdin/,
  ],
  [['--path', '/x', '--body', '', '--body-file', 'b'], /name the body once/],
  [['--callback', '--path', '/x'], /without method and path/],
  [['--path', '/x', '--at', at], /go with --check/],
  [['--check', '--path', '/x'], /--check needs the headers/],
  [
    ['--check', '--callback', '--header', 'a: b', '--at', 'noon', '--secret', 'a'],
    /not a time such as/,
  ],
])('%j is refused in words', async (args, says) => {
  const { code, stdout, stderr } = await run(args)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(says)
  expect(stderr).not.toMatch(/\n\s+at /)
})
