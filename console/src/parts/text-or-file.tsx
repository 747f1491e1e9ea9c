import { Button, FileButton, Group, Textarea } from '@mantine/core'
import { useRef, useState } from 'react'
import { words } from '../words.ts'
import classes from './text-or-file.module.css'

/** A long text that is pasted, or taken from a file. */
export function TextOrFile(props: {
  label: string
  description?: string
  accept: string
  maxBytes: number
  value: string
  change: (text: string) => void
}) {
  const forgetFile = useRef<() => void>(null)
  const [fault, setFault] = useState<string | null>(null)
  const read = async (file: File | null) => {
    if (!file) return
    setFault(null)
    if (file.size > props.maxBytes) setFault(words.fileTooLarge(Math.round(props.maxBytes / 1024)))
    else props.change(await file.text())
    // The same file may be chosen again after it was changed.
    forgetFile.current?.()
  }
  return (
    <div>
      <Textarea
        label={props.label}
        description={props.description}
        error={fault}
        classNames={{ input: classes.code }}
        autosize
        minRows={8}
        maxRows={24}
        spellCheck={false}
        value={props.value}
        onChange={(event) => props.change(event.currentTarget.value)}
      />
      <Group mt={8}>
        <FileButton
          resetRef={forgetFile}
          accept={props.accept}
          onChange={(file) => void read(file)}
        >
          {(button) => (
            <Button variant="default" {...button}>
              {words.chooseFile}
            </Button>
          )}
        </FileButton>
      </Group>
    </div>
  )
}
