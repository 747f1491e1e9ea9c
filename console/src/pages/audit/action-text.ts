/** An action's name as text, such as "Change agent". */
export function actionText({ action }: { action: string }): string {
  return action.charAt(0).toUpperCase() + action.slice(1).replaceAll('_', ' ')
}
