import { describe, expect, it } from 'vitest'
import type { JudgedDay } from './judge-days.ts'
import { type SignOff, withSignOffs } from './sign-offs.ts'

const day = (name: string, more: Partial<JudgedDay> = {}): JudgedDay => ({
  day: name,
  state: 'green',
  opening: 0n,
  closing: 100n,
  breaks: [],
  movements: 1,
  amountMinor: 100n,
  ...more,
})

const judge = (days: JudgedDay[], movements: Record<string, string[]>, signOffs: SignOff[] = []) =>
  withSignOffs(
    days,
    new Map(Object.entries(movements)),
    new Map(signOffs.map((each) => [each.day, each])),
  )

const signed = (name: string, movements: string[]): SignOff => {
  const [judged] = judge([day(name)], { [name]: movements })
  if (!judged) throw new Error('no day')
  return {
    account: 'kbank',
    day: name,
    no: 1,
    by: 'one@sluice.example',
    at: new Date('2026-11-17T02:00:00Z'),
    state: judged.state,
    ...judged.digests,
    reason: null,
  }
}

describe('a day that was signed off', () => {
  it('stays as it is while its movements do, in whatever order they are read', () => {
    const signOff = signed('2026-11-16', ['a 1', 'b 2'])
    const [judged] = judge([day('2026-11-16')], { '2026-11-16': ['b 2', 'a 1'] }, [signOff])
    expect(judged).toMatchObject({ state: 'green', breaks: [], signOff: { by: signOff.by } })
  })

  it.each([
    ['another movement came', ['a 1', 'b 2', 'c 3']],
    ['one left for another day', ['a 1']],
    ['an amount is another', ['a 1', 'b 3']],
  ])('is red with a break when %s', (_what, now) => {
    const signOff = signed('2026-11-16', ['a 1', 'b 2'])
    const [judged] = judge([day('2026-11-16')], { '2026-11-16': now }, [signOff])
    expect(judged?.state).toBe('red')
    expect(judged?.breaks.map(({ name }) => name)).toEqual(['signed_day_changed'])
    expect(judged?.breaks[0]?.detail).toContain('one@sluice.example')
  })

  it('is shown, red, even if nothing is left on it', () => {
    const signOff = signed('2026-11-15', ['a 1'])
    const days = judge([day('2026-11-16')], { '2026-11-16': ['a 1'] }, [signOff])
    expect(days.map((each) => [each.day, each.state])).toEqual([
      ['2026-11-15', 'red'],
      ['2026-11-16', 'green'],
    ])
  })
})

it('what is shown has another digest when state, balance or breaks are others', () => {
  const shown = (more: Partial<JudgedDay>) =>
    judge([day('2026-11-16', more)], { '2026-11-16': ['a 1'] })[0]?.digests.shown
  const all = [
    shown({}),
    shown({ state: 'amber' }),
    shown({ closing: 101n }),
    shown({ breaks: [{ name: 'gap', amountMinor: 1n, movementId: null, detail: '' }] }),
  ]
  expect(new Set(all).size).toBe(all.length)
  expect(shown({})).toBe(shown({ movements: 1 }))
})
