/** One thing that was looked at, how it is, and what to do about it. */
export interface Finding {
  check: string
  state: 'ok' | 'warn' | 'fail'
  text: string
  /** Where it is not ok. */
  advice?: string
}

export const ok = (check: string, text: string): Finding => ({ check, state: 'ok', text })

export const warn = (check: string, text: string, advice: string): Finding => ({
  check,
  state: 'warn',
  text,
  advice,
})

export const fail = (check: string, text: string, advice: string): Finding => ({
  check,
  state: 'fail',
  text,
  advice,
})
