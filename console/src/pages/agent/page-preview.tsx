import { useDebouncedValue } from '@mantine/hooks'
import { useCallback, useEffect, useRef } from 'react'
import { addressOf } from '../../api.ts'
import { locale } from '../../languages/language.ts'
import { api } from '../../paths.ts'
import classes from './agent.module.css'
import type { AgentDetail } from './agent-detail.ts'
import { agentWords } from './agent-words.ts'

const { looks: says } = agentWords

/** The payment page itself, of an order that does not exist, with a colour and a logo that may not be saved yet. */
export function PagePreview(props: { agent: AgentDetail; colour: string; logo: string }) {
  const { agent, logo } = props
  const frame = useRef<HTMLIFrameElement>(null)
  const [colour] = useDebouncedValue(props.colour, 300)
  const isColour = /^#[0-9a-f]{6}$/i.test(colour)
  const query = { lang: locale, ...(isColour && { colour }) }
  // No script runs in the frame: what is too large for its address is put in from here.
  const show = useCallback(() => {
    const picture = frame.current?.contentDocument?.querySelector<HTMLImageElement>('img.logo')
    if (!picture) return
    picture.hidden = logo === ''
    if (logo !== '') picture.src = logo
  }, [logo])
  useEffect(show, [show])
  return (
    <iframe
      ref={frame}
      className={classes.preview}
      title={says.preview}
      sandbox="allow-same-origin"
      src={addressOf(api.pagePreview, { params: { app_id: agent.app_id }, query })}
      onLoad={show}
    />
  )
}
