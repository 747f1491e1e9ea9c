export type BankRow = readonly [
  code: string,
  name: string,
  numericCode: string | null,
  swift: string | null,
  otherCodes: readonly string[],
  closed?: 'closed',
]
