import { useEffect, useState } from 'react'

/** Whoever opened a dialog by keyboard goes on from there when it closes. */
export function useFocusBack(): void {
  const [opener] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      if (opener instanceof HTMLElement) opener.focus()
    },
    [opener],
  )
}
