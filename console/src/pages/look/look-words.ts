import { translated } from '../../languages/language.ts'

export const lookWords = translated('look', {
  title: 'Looking around',
  says: 'Opening the console for looking around: nothing can be changed with it.',
})
