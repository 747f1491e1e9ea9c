/** The stories that the bank knows, for deposits and for withdrawals; docs/sandbox.md tells them. */
const stories = {
  deposit: [
    'paid',
    'failed',
    'void',
    'taken-back',
    'late',
    'underpaid',
    'overpaid',
    'duplicate',
    'wrong-payer',
  ],
  withdraw: [
    'paid',
    'failed',
    'revert',
    'timeout-then-paid',
    'timeout-then-failed',
    'duplicate-notice',
    'slow',
    'queued',
  ],
}

/** The story that an order asks for with `extraParams.sandbox`. */
export function storyIn(extraParams: string | null): string | null {
  const asked = askedFor(extraParams)
  return typeof asked === 'string' ? asked : null
}

/** What is wrong with the story that an order asks for. */
export function storyFault(
  kind: 'deposit' | 'withdraw',
  extraParams: string | null,
): { field: string; message: string } | undefined {
  const asked = askedFor(extraParams)
  if (asked === undefined) return undefined
  if (typeof asked === 'string' && stories[kind].includes(asked)) return undefined
  return {
    field: 'extraParams.sandbox',
    message: `must be one of ${stories[kind].join(', ')}`,
  }
}

function askedFor(extraParams: string | null): unknown {
  if (extraParams === null) return undefined
  const given = new Map<string, unknown>(Object.entries(JSON.parse(extraParams)))
  return given.get('sandbox')
}
