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
 * What somebody types, kept in this tab: it is there again after a reload, or after signing in anew. Never for
 * passwords, codes or secrets. Of a name such as `adjust/amount` the first word is the form's, by which all of
 * it is forgotten.
 */
export function useDraft<T>(
  name: string,
  initial: T | (() => T),
): [T, Dispatch<SetStateAction<T>>] {
  const key = usePlace() + name
  const [held, setHeld] = useState(() => found(key, initial))
  // The same page about something else has drafts of its own.
  if (held.key !== key) setHeld(found(key, initial))
  useEffect(() => keep(held), [held])
  const set = useCallback((next: SetStateAction<T>) => {
    setHeld((now) => ({ ...now, value: next instanceof Function ? next(now.value) : next }))
  }, [])
  return [held.value, set]
}

/** Forgets what was typed into a form, once it was used or given up. What is shown stays as it is. */
export function useForgetDrafts(): (form: string) => void {
  const place = usePlace()
  return useCallback(
    (form) => forget((key) => key === place + form || key.startsWith(`${place}${form}/`)),
    [place],
  )
}

/** Whoever signs in finds nothing that another has typed. */
export function useOwnDraftsOnly(me: Me): void {
  const own = ownedBy(me)
  useEffect(() => forget((key) => !key.startsWith(own)), [own])
}

/** At sign-out, in every tab. */
export function forgetAllDrafts(): void {
  forget(() => true)
  otherTabs.postMessage('signed out')
}

const otherTabs = new BroadcastChannel('sluice.drafts')
otherTabs.onmessage = () => forget(() => true)

/** Where the drafts of this user on this page are. */
function usePlace(): string {
  const me = useMe()
  const path = useMatch({ strict: false, select: ({ pathname }) => pathname })
  return `${ownedBy(me)}${path} `
}

/** What another release kept may have another shape. */
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
    // There is no room left: it stays on the page, and is lost with it.
  }
}

function forget(which: (key: string) => boolean): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(mark) && which(key)) sessionStorage.removeItem(key)
  }
}
