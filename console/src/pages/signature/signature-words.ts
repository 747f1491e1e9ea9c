import { translated } from '../../languages/language.ts'

export const signatureWords = translated('signature', {
  title: 'Signature debugger',
  says: 'Paste a request or a callback as it was sent; the service says what is wrong with its signature.',
  kind: 'What it is',
  request: 'A request to the service',
  callback: 'A callback from the service',
  method: 'Method',
  path: 'Path',
  pathHint: 'With its query, as sent.',
  body: 'Body',
  bodyHint: 'Exactly as it was sent, byte for byte.',
  headerHint: 't=…,v1=…',
  check: 'Check',
  verdict: 'Verdict',
  matches: 'It matches',
  differs: 'It does not match',
  got: 'Sent',
  expected: 'The right one begins with',
  age: 'Age of the timestamp',
  signedText: 'The text to sign',
})
