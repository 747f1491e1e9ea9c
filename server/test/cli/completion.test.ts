import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { currencies } from '../../src/lib/money.ts'
import { cleanUp, sluice, start, tempFolder } from '../support/process.ts'

let folder: string
beforeAll(async () => {
  folder = await tempFolder()
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout, stderr } = await sluice(['completion', shell], {})
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    await writeFile(join(folder, shell), stdout)
  }
  await writeFile(join(folder, 'secret.txt'), '')
})
afterAll(cleanUp)

/** What bash offers once this is typed, asked as bash itself asks: by the function it was told. */
async function offered(...lines: string[]): Promise<string[][]> {
  const asked = lines.map((line) => {
    const words = line.split(' ').map((word) => `'${word}'`)
    return `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; "$told"; echo "\${COMPREPLY[*]}"`
  })
  const input = ['source ./bash', 'told=$(complete -p sluice | cut -d" " -f3)', ...asked].join('\n')
  const { stdout, stderr } = await start('bash', ['--norc', '-s'], { input, cwd: folder }).ended
  expect(stderr).toBe('')
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').filter((word) => word !== ''))
}

describe('bash', () => {
  test('completes commands, their subcommands and their options', async () => {
    const [all, begun, inside, below, option, after] = await offered(
      'sluice ',
      'sluice ag',
      'sluice agent ',
      'sluice agent cr',
      'sluice agent create --deposit-',
      'sluice agent create --name Shop --rev',
    )
    expect(all).toEqual(expect.arrayContaining(['serve', 'agent', 'sign', 'completion', '--help']))
    expect(begun).toEqual(['agent', 'agent-secret'])
    expect(inside).toEqual(['create', 'list', 'show', 'set', 'rotate-key', 'revoke-key', '--help'])
    expect(below).toEqual(['create'])
    expect(option).toEqual(['--deposit-callback', '--deposit-fee'])
    expect(after).toEqual(['--revert-fee'])
  })

  test('completes values that are known, files, and nothing where nobody can know', async () => {
    const [currency, method, file, free, shell] = await offered(
      'sluice agent create --currency ',
      'sluice agent set app_1 --method link+q',
      'sluice sign --secret-file sec',
      'sluice agent create --name ',
      'sluice completion z',
    )
    expect(currency).toEqual(currencies)
    expect(method).toEqual(['link+qrcode', 'link+qrcode+transfer'])
    expect(file).toEqual(['secret.txt'])
    expect(free).toEqual([])
    expect(shell).toEqual(['zsh'])
  })
})

test('every option that help shows is completed, in each shell', async () => {
  const { stdout: help } = await sluice(['sign', '--help'], {})
  const options = [...help.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map(([, name]) => name ?? '')
  expect(options).toContain('secret-file')
  const [completed] = await offered('sluice sign --')
  expect(completed?.toSorted()).toEqual(options.map((name) => `--${name}`).toSorted())
  const [zsh, fish] = await Promise.all(
    ['zsh', 'fish'].map((shell) => readFile(join(folder, shell), 'utf8')),
  )
  for (const name of options) {
    expect(zsh).toMatch(new RegExp(`^ {4}' sign'\\) offered=\\(.*'--${name}:`, 'm'))
    expect(fish).toMatch(new RegExp(`^complete .*__sluice_at " sign".* -l ${name} `, 'm'))
  }
})

test('another shell is refused, with those it knows', async () => {
  const { code, stderr } = await sluice(['completion', 'tcsh'], {})
  expect(code).toBe(1)
  expect(stderr).toContain('Allowed choices are bash, zsh, fish')
})
