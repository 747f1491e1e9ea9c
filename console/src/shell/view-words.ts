import { translated } from '../languages/language.ts'

export const viewWords = translated('view', {
  start: 'View as this agent',
  label: 'You see the console of an agent',
  says: (agent: string) => `You see the console as the users of ${agent} do.`,
  only: 'Nothing can be changed.',
  until: 'Until',
  leave: 'Leave',
  onlyLooks: 'You see the console as the users of an agent do: nothing can be changed.',
})
