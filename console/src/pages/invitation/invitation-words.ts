import { translated } from '../../languages/language.ts'

export const invitationWords = translated('invitation', {
  title: 'Welcome',
  says: (email: string | null, role: string) =>
    email === null ? 'You are the first user and become admin.' : `${email} joins as ${role}.`,
  refused: 'This link cannot be used',
  refusedHint: 'A link works once and for a while. Ask whoever sent it for a new one.',
  choose: 'Choose a password',
  passwordHint: 'At least 12 characters; a few unrelated words are best.',
  scan: 'Scan this with an authenticator app',
  qrAlt: 'QR code for the authenticator',
  byHand: 'Or type in this key:',
  confirm: 'Type the code it shows',
  done: 'Set up and sign in',
})
