import { Button, type ButtonProps, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'

/** A button that stays focusable while it is disabled, and says why it is disabled. */
export function ActButton(
  props: ButtonProps & {
    whyNot?: string | null | undefined
    onClick: () => void
    children: ReactNode
  },
) {
  const { whyNot, onClick, children, ...rest } = props
  if (!whyNot) {
    return (
      <Button variant="default" {...rest} onClick={onClick}>
        {children}
      </Button>
    )
  }
  return (
    <Tooltip
      label={whyNot}
      multiline
      maw={300}
      openDelay={0}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Button
        variant="default"
        {...rest}
        data-disabled
        aria-disabled
        aria-description={whyNot}
        onClick={(event) => event.preventDefault()}
      >
        {children}
      </Button>
    </Tooltip>
  )
}
