export const lookWords = {
  title: 'Looking around',
  says: 'Opening the console for looking around: nothing can be changed with it.',
}
