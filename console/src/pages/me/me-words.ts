export const meWords = {
  title: 'Sessions and password',
  sessions: 'Where you are signed in',
  current: 'This one',
  end: 'End',
  unknownBrowser: 'Unknown browser',
  lastSeen: 'last seen',
  password: 'Change the password',
  passwordHint: 'All your other sessions end.',
  currentPassword: 'Current password',
  newPassword: 'New password',
  change: 'Change password',
  changed: 'The password is changed; your other sessions have ended.',
}
