export const usersWords = {
  title: 'Users',
  says: 'Who may sign in, as what. Everything they do is in the audit log.',
  none: 'No users',
  noneTeach: 'sluice user create makes one.',
  create: 'Invite a user',
  createExplain:
    'You get a link to hand over. With it they choose a password and enrol an authenticator.',
  changeRole: 'Role',
  roleExplain: 'Their sessions end, and they sign in again with the new role.',
  disable: 'Disable',
  disableExplain:
    'Their sessions end at once, and they cannot sign in until they are enabled again.',
  enable: 'Enable',
  enableExplain: 'They can sign in again with the password and the authenticator they had.',
  reset: 'Reset',
  resetExplain:
    'For a lost phone or password. What they sign in with ends now; you get a link with which they start anew.',
  link: 'Their link',
  linkHint: 'Hand it over now: it works once, for 24 hours, and is not shown again.',
  titleOf: (action: string, email: string) => `${action}: ${email}`,
  roleHints: {
    admin: 'Everything, users and providers included.',
    operator: 'Everything but users and providers.',
    viewer: 'Looks, with personal data masked, and changes nothing.',
    agent: 'The portal: sees one agent only.',
  },
  columns: {
    email: 'Email',
    role: 'Role',
    agent: 'Agent',
    state: 'State',
    lastSeen: 'Last seen',
    did: 'What they did',
    act: 'Change',
  },
}
