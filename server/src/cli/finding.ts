/** The result of one check, and what to do about it. */
export interface Finding {
  check: string
  state: 'ok' | 'warn' | 'fail'
  text: string
  /** Only if the state is not ok. */
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
