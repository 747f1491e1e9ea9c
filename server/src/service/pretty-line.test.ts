import { expect, test } from 'vitest'
import { prettyLine } from './pretty-line.ts'

test('a person reads when, how bad, what, and the rest', () => {
  const line = JSON.stringify({
    ...{ level: 30, time: '2026-01-02T03:04:05.678Z', method: 'POST', status: 201, ms: 4.2 },
    msg: 'answered',
  })
  expect(prettyLine(`${line}\n`)).toBe('03:04:05 info  answered method=POST status=201 ms=4.2\n')
})

test('an error comes with its stack', () => {
  const err = { message: 'gone', stack: 'Error: gone\n    at here' }
  expect(prettyLine(JSON.stringify({ level: 50, time: '2026-01-02T03:04:05.678Z', err }))).toBe(
    '03:04:05 ERROR\nError: gone\n      at here\n',
  )
})

test('nothing from outside writes over the terminal', () => {
  const line = JSON.stringify({ level: 40, time: '', msg: 'odd', ip: '\u001b[2J' })
  expect(prettyLine(line)).toBe(' warn  odd ip=\\u001b[2J\n')
  expect(prettyLine('plain\n')).toBe('plain\n')
})
