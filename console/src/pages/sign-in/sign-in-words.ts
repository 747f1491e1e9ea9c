export const signInWords = {
  title: 'Sign in',
  says: 'Use your password and the current code of your authenticator.',
  saysAgain:
    'Your session has ended, or you are not signed in yet. Sign in to continue to the page you requested.',
  email: 'Email',
  password: 'Password',
  codeHint: 'Six digits from your authenticator.',
}
