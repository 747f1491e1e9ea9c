import { Button, FileButton, Group, Input } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import classes from './agent.module.css'
import { agentWords } from './agent-words.ts'
import { logoTypes, readLogo } from './read-logo.ts'

const { logo: says } = agentWords

/** The logo of the payment page, with a preview before it is saved. */
export function LogoField(props: {
  label: string
  description: string
  value: string
  change: (value: string) => void
}) {
  // Reset the file input, so that the user can choose the same file again after fixing it.
  const forgetFile = useRef<() => void>(null)
  const reading = useMutation({
    mutationFn: readLogo,
    onSuccess: props.change,
    onSettled: () => forgetFile.current?.(),
  })
  const has = props.value !== ''
  return (
    <Input.Wrapper
      role="group"
      aria-label={props.label}
      label={props.label}
      labelElement="div"
      description={props.description}
      error={reading.error && <span role="alert">{reading.error.message}</span>}
    >
      <Group gap="xs" my={4}>
        {has && <img className={classes.logo} src={props.value} alt={says.alt} />}
        <FileButton
          accept={logoTypes.join(',')}
          resetRef={forgetFile}
          onChange={(file) => file && reading.mutate(file)}
        >
          {(button) => (
            <Button variant="default" loading={reading.isPending} {...button}>
              {has ? says.replace : says.choose}
            </Button>
          )}
        </FileButton>
        {has && (
          <Button
            variant="default"
            onClick={() => {
              reading.reset()
              props.change('')
            }}
          >
            {says.remove}
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  )
}
