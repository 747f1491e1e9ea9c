import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ask } from '../../api.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api } from '../../paths.ts'
import { base } from '../../root.ts'
import { Door } from '../sign-in/door.tsx'
import { lookWords as says } from './look-words.ts'

/** Exchanges the link of a demo for a session that can only look, once. */
export default function Look() {
  const router = useRouter()
  const queries = useQueryClient()
  const [token] = useState(() => window.location.hash.slice(1))
  const opened = useQuery({
    queryKey: ['look-around', token],
    queryFn: () => ask(api.lookAround, { body: { token } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const isOpen = opened.isSuccess
  useEffect(() => {
    if (!isOpen) return
    queries.clear()
    router.history.replace(`${base}/`)
  }, [isOpen, queries, router])
  return (
    <Door title={says.title} says={says.says}>
      {opened.isError && <ProblemPanel error={opened.error} />}
    </Door>
  )
}
