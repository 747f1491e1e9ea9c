export const signInWords = {
  title: 'Sign in',
  says: 'With the password you chose and the code your authenticator shows now.',
  saysAgain:
    'Your session has ended, or you have none yet. Sign in to go on to the page you asked for.',
  email: 'Email',
  password: 'Password',
  codeHint: 'Six digits from your authenticator.',
}
