/** The stories that the bank can play, in a few words each; docs/sandbox.md describes them in full. */
export const stories = {
  deposit: new Map([
    ['paid', 'paid in full'],
    ['failed', 'fails'],
    ['void', 'is called off'],
    ['taken-back', 'paid, then taken back'],
    ['late', 'paid after it has expired'],
    ['underpaid', 'too little is paid'],
    ['overpaid', 'too much is paid'],
    ['duplicate', 'paid twice'],
    ['wrong-payer', 'paid from another account'],
    ['charged', 'paid, and the bank charges for it'],
  ]),
  withdraw: new Map([
    ['paid', 'paid in full'],
    ['failed', 'fails'],
    ['revert', 'paid, then returned'],
    ['timeout-then-paid', 'no answer, then paid'],
    ['timeout-then-failed', 'no answer, then failed'],
    ['duplicate-notice', 'told twice'],
    ['charged', 'paid, and the bank charges for it'],
    ['slow', 'accepted, then nothing'],
    ['queued', 'not handed over yet'],
  ]),
}

/** The story that an order requests with `extraParams.sandbox`. */
export function storyIn(extraParams: string | null): string | null {
  const asked = askedFor(extraParams)
  return typeof asked === 'string' ? asked : null
}

/** Describes what is wrong with the story that an order requests. */
export function storyFault(
  kind: 'deposit' | 'withdraw',
  extraParams: string | null,
): { field: string; message: string } | undefined {
  const asked = askedFor(extraParams)
  if (asked === undefined) return undefined
  if (typeof asked === 'string' && stories[kind].has(asked)) return undefined
  return {
    field: 'extraParams.sandbox',
    message: `must be one of ${[...stories[kind].keys()].join(', ')}`,
  }
}

function askedFor(extraParams: string | null): unknown {
  if (extraParams === null) return undefined
  const given = new Map<string, unknown>(Object.entries(JSON.parse(extraParams)))
  return given.get('sandbox')
}
