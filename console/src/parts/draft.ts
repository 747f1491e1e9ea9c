import { useMatch } from '@tanstack/react-router'
import { type Dispatch, type SetStateAction, useCallback, useEffect, useState } from 'react'
import { type Me, useMe } from '../session.tsx'

const mark = 'sluice.draft '

interface Held<T> {
  key: string
  initial: T
  value: T
}

/**
 * State for form input that is kept in this tab and survives a reload or a new sign-in. Never use it for
 * passwords, codes or secrets. In a name such as `adjust/amount`, the first word names the form; all drafts
 * of a form are discarded together.
 */
export function useDraft<T>(
  name: string,
  initial: T | (() => T),
): [T, Dispatch<SetStateAction<T>>] {
  const key = usePlace() + name
  const [held, setHeld] = useState(() => found(key, initial))
  // The same page has separate drafts for each thing it shows, such as another order.
  if (held.key !== key) setHeld(found(key, initial))
  useEffect(() => keep(held), [held])
  const set = useCallback((next: SetStateAction<T>) => {
    setHeld((now) => ({ ...now, value: next instanceof Function ? next(now.value) : next }))
  }, [])
  return [held.value, set]
}

/** Discards a form's drafts once it was submitted or cancelled. The displayed input stays as it is. */
export function useForgetDrafts(): (form: string) => void {
  const place = usePlace()
  return useCallback(
    (form) => forget((key) => key === place + form || key.startsWith(`${place}${form}/`)),
    [place],
  )
}

/** Discards the drafts of other users. */
export function useOwnDraftsOnly(me: Me): void {
  const own = ownedBy(me)
  useEffect(() => forget((key) => !key.startsWith(own)), [own])
}

/** Discards all drafts in every tab, at sign-out. */
export function forgetAllDrafts(): void {
  forget(() => true)
  otherTabs.postMessage('signed out')
}

const otherTabs = new BroadcastChannel('sluice.drafts')
otherTabs.onmessage = () => forget(() => true)

/** The key prefix for this user's drafts on this page. */
function usePlace(): string {
  const me = useMe()
  const path = useMatch({ strict: false, select: ({ pathname }) => pathname })
  return `${ownedBy(me)}${path} `
}

/** Includes the release, because drafts of another release may have a different shape. */
function ownedBy({ user, version }: Me): string {
  return `${mark}${version} ${user.id} `
}

function found<T>(key: string, given: T | (() => T)): Held<T> {
  const initial = given instanceof Function ? given() : given
  const kept = sessionStorage.getItem(key)
  return { key, initial, value: kept === null ? initial : JSON.parse(kept) }
}

function keep<T>({ key, initial, value }: Held<T>): void {
  const text = JSON.stringify(value)
  try {
    if (text === JSON.stringify(initial)) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, text)
  } catch {
    // The storage is full: the input stays on the page but does not survive a reload.
  }
}

function forget(which: (key: string) => boolean): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(mark) && which(key)) sessionStorage.removeItem(key)
  }
}
