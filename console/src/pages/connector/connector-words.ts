import { translated } from '../../languages/language.ts'

export const connectorWords = translated('connector', {
  says: (company: string, can: string) => `${company}: ${can}`,
  viewsLabel: 'Views',
  views: {
    overview: 'Overview',
    document: 'Document',
    samples: 'Samples',
    try: 'Try an answer',
  },
  newVersion: 'New version',
  version: 'Version',
  versionOf: (version: number, isUsed: boolean) => `${version}${isUsed ? ' (in use)' : ''}`,

  waits: {
    title: 'It waits for another person',
    says: 'Somebody has proposed a change of this connector. It is done when another person approves it.',
    link: 'Open the proposal',
  },

  use: {
    button: (version: number) => `Use version ${version}`,
    short: 'Use',
    title: (name: string, version: number) => `Use version ${version} of ${name}`,
    explain: (version: number) =>
      `New orders are handed over by version ${version} with the newest secrets. Orders that were handed over before keep their version.`,
    explainLive: 'In live another person has to approve it.',
    secrets: 'Secrets that it is used with',
    secret: (name: string, n: number | null) => `${name} (number ${n ?? '–'})`,
    account: 'Whose is the key that changes?',
    accountHint:
      'Orders that were handed over before are asked about with the key that can know of them.',
    sameAccount: 'The same account at the company: older orders are asked about with the new key',
    otherAccount:
      'Another account: older orders are asked about with the key before, which must stay valid',
    formerVoid: 'Take no notice any more that is signed with a secret before',
    formerVoidHint:
      'If one of them is known to somebody else. Otherwise they stay valid for a day.',
    isUsed: (version: number) => `Version ${version} is in use, with the newest secrets.`,
    notPassed: (version: number) =>
      `Version ${version} has not passed its samples: run them first, under Samples.`,
    noSecrets: (names: string) => `Set these secrets first: ${names}.`,
    waits: 'A change waits for another person. Decide on it first.',
  },
  switch: { button: 'Switch', notUsed: 'No version is used yet, so there is nothing to switch.' },

  figures: {
    title: 'Calls',
    says: (processes: number) =>
      processes === 1
        ? 'Of the one process that has made calls within a day, since it began.'
        : `Of the ${processes} processes that have made calls within a day, since each began.`,
    none: 'No process has made calls with it within a day.',
    calls: 'Calls',
    failures: 'Without a usable answer',
    notCalled: 'Not made',
    underWay: 'Under way',
    state: 'Calls are',
    states: {
      open: 'made',
      paused: 'paused, because it fails; one call tries again after a second, at most a minute',
      trying: 'paused, while one call tries whether it works again',
    },
    lastFault: 'Last failure',
    noFault: 'none',
  },
  facts: {
    title: 'Connector',
    state: 'State',
    fault: 'Cannot be read',
    company: 'Company',
    source: 'Documentation that was read',
    can: 'Can do',
    account: 'Bank account',
    version: 'Version in use',
    noVersion: 'none',
    newest: 'Newest version',
    noticeUrl: 'Where the company sends notices',
    limits: 'Limits for each process',
    limitsSay: (atOnce: number, perSecond: number, timeoutMs: number) =>
      `${atOnce} calls at once, ${perSecond} a second, ${timeoutMs} ms for each`,
    by: (who: string) => `by ${who}`,
  },
  secrets: {
    title: 'Secrets',
    none: 'It needs no secrets',
    noneTeach: 'The document names none.',
    name: 'Name',
    found: 'Where it is found',
    state: 'State',
    set: 'Set',
    act: 'Change',
    button: (isSet: boolean) => (isSet ? 'Rotate' : 'Set'),
    states: {
      missing: 'Not set',
      used: 'In use',
      newer: 'Not used yet',
    },
    unnamed: 'The newest document does not name it.',
    dialog: {
      title: (name: string) => `Secret ${name}`,
      explain:
        'It is stored encrypted and never shown again. Calls go on with the secret in use until a version is used again.',
      value: 'The secret itself',
      valueHint: 'As the company gave it; a key in PEM with all its lines.',
      save: 'Keep it',
    },
    kept: (name: string) => `Kept. Use a version, so that ${name} is used.`,
  },
  versions: {
    title: 'Versions',
    none: 'No versions',
    version: 'Version',
    added: 'Added',
    by: 'By',
    why: 'Why',
    samples: 'Samples',
    passed: 'Passed',
    notPassed: 'Not passed',
    notTried: 'Not tried',
    show: 'Document',
    act: 'Use',
    uses: 'What was used when',
    noUses: 'No version was used yet',
    since: 'Since',
  },
  document: { label: (version: number) => `Document of version ${version}` },

  samples: {
    says: 'A set of answers and notices of the company, each with what it must be read as. The run adds hostile ones: HTML with 200, half a body, an unknown body, and for a notice a repeated and a forged one.',
    paste: 'Samples, as JSON',
    run: 'Run the samples',
    missing: 'Enter samples first.',
    passed: (version: number) => `Version ${version} has passed`,
    passedTeach: 'It can be used now.',
    failed: (version: number) => `Version ${version} has not passed`,
    counts: (good: number, all: number) => `${good} of ${all} were read as they have to be.`,
    shows: 'The set does not show:',
    results: 'Results',
    name: 'Sample',
    call: 'Step',
    result: 'Result',
    expected: 'Must be',
    got: 'Was',
    rule: 'Rule',
    nothing: 'nothing',
    right: 'Right',
    wrong: 'Wrong',
  },

  calls: {
    expectDeposit: 'Deposit: the answer to expectDeposit',
    askDeposit: 'Deposit: the answer to askDeposit',
    submitPayout: 'Payout: the answer to submitPayout',
    askPayout: 'Ask about a payout: the answer to askPayout',
    notice: 'Notice from the company',
  },
  try: {
    says: 'Paste what the company says. Nothing is changed and nothing is sent.',
    call: 'Step',
    status: 'Status',
    body: 'Body',
    bodyHint: 'Exactly as it came.',
    headers: 'Headers of the notice',
    headersHint: 'One on a line; its signature is checked with the secret in use.',
    reference: 'Our reference',
    referenceHint: 'What was asked about. Left empty, what the answer repeats counts as right.',
    theirId: "The company's own id",
    address: 'Address that it came from',
    addressHint: 'If the document lists the addresses of the company.',
    assumed: (names: string) => `Not given, so what the answer repeats counts as right: ${names}.`,
    amount: 'Amount',
    currency: 'Currency',
    button: 'Try it',
    result: 'What would happen',
    empty: 'Nothing was tried yet',
    emptyTeach: 'The rule that fires and what would happen are shown here.',
    by: (version: number) => `Read by version ${version}`,
    signature: 'Signature',
    genuine: 'It is genuine',
    notGenuine: 'It is not genuine',
    event: (n: number) => `Event ${n}`,
    noEvents: 'There are no events in it.',
    rule: 'Rule',
    ruleName: 'Its name',
    noRule: 'No rule fits',
    why: 'Why',
    words: 'In the words of samples',
    ruleText: (pointer: string) => `The rule at ${pointer}`,
  },
})

/** What the words of samples mean for an order. */
export const meaningWords = translated('meaning', {
  exact: {
    unknown: 'The outcome is unknown: nothing changes, and it is asked about again.',
    unread: 'It is kept, stays open and is counted, until a person looks into it.',
    accepted: 'The company has taken the payout; it is under way.',
    paid: 'The payout is paid.',
    rejected: 'The company refuses it: it fails.',
    'rejected, another may try': 'The company refuses it: another provider may be tried.',
    cancelled: 'The payout is cancelled.',
    returned: 'The payout was paid and has come back.',
    not_found: 'The company does not know it.',
  } as Record<string, string>,
  deposit: (what: string) => `The deposit is taken; the payer gets: ${what}.`,
  payment: (amount: string, order: string) => `A payment of ${amount} for ${order}.`,
  takenBack: (order: string) => `The payment for ${order} is taken back.`,
  ended: (state: string, order: string) => `The deposit ${order} ends as ${state}.`,
  payout: (outcome: string, order: string) => `Of the payout ${order}: ${outcome}.`,
  cost: (amount: string, order: string) => `A cost of ${amount} for ${order}.`,
  line: (amount: string) => `A line of ${amount} on the bank account.`,
  ofNoInterest: 'Nothing: the rule says that it is of no interest.',
})

const patterns: [RegExp, (first: string, second: string) => string][] = [
  [/^accepted with (.+)$/, meaningWords.deposit],
  [/^payment (.+) for (.+)$/, meaningWords.payment],
  [/^payment_taken_back for (.+)$/, meaningWords.takenBack],
  [/^deposit_ended (\S+) for (.+)$/, meaningWords.ended],
  [/^payout (.+) for (.+)$/, meaningWords.payout],
  [/^cost (.+) for (.+)$/, meaningWords.cost],
  [/^line (.+)$/, meaningWords.line],
]

/** What a word of the samples means for the order. */
export function meaningOf(got: string): string {
  const known = meaningWords.exact[got]
  if (known !== undefined) return known
  for (const [pattern, says] of patterns) {
    const [, first = '', second = ''] = pattern.exec(got) ?? []
    if (first !== '') return says(first, second)
  }
  return got
}

export const { ofNoInterest } = meaningWords
