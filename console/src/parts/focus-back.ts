import { useEffect, useState } from 'react'

/** Returns the focus to the element that opened a dialog when the dialog closes. */
export function useFocusBack(): void {
  const [opener] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      if (opener instanceof HTMLElement) opener.focus()
    },
    [opener],
  )
}
