import { translated } from '../../languages/language.ts'

export const usersWords = translated('users', {
  title: 'Users',
  says: 'Who may sign in, and with which role. The audit log records everything they do.',
  none: 'No users',
  noneTeach: 'Create one with sluice user create.',
  create: 'Invite a user',
  createExplain:
    'You get a link to give to the user, who then chooses a password and enrols an authenticator.',
  changeRole: 'Role',
  roleExplain: 'Their sessions end, and they sign in again with the new role.',
  disable: 'Disable',
  disableExplain:
    'Their sessions end at once, and they cannot sign in until they are enabled again.',
  enable: 'Enable',
  enableExplain: 'They can sign in again with the password and the authenticator they had.',
  reset: 'Reset',
  resetExplain:
    'For a lost phone or password. The old password and authenticator stop working now; you get a link for setting up new ones.',
  link: 'Their link',
  linkHint: 'Give it to the user now: it works once, within 24 hours, and is not shown again.',
  stopped: 'Somebody knows the password and guessed codes: reset the user.',
  titleOf: (action: string, email: string) => `${action}: ${email}`,
  roleHints: {
    admin: 'Everything, including users and providers.',
    operator: 'Everything except users and providers.',
    viewer: 'Can view, with personal data masked, but change nothing.',
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
})
