import { translated } from '../../languages/language.ts'

export const signInWords = translated('signIn', {
  title: 'Sign in',
  says: 'Use your password and the current code of your authenticator.',
  saysAgain:
    'Your session has ended, or you are not signed in yet. Sign in to continue to the page you requested.',
  sso: 'Sign in with SSO',
  ssoTitle: 'Signing in with SSO',
  ssoCode: 'Your organisation has signed you in. Now send the current code of your authenticator.',
  ssoEnrol:
    'Your organisation has signed you in. Whatever changes something here asks for a code: scan this with an authenticator app.',
  ssoAgain: 'Begin again',
  email: 'Email',
  password: 'Password',
  codeHint: 'Six digits from your authenticator.',
})
