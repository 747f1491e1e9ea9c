import { Button, Group } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { problemOf } from '../api.ts'
import { words } from '../words.ts'
import { CopyId } from './copy-id.tsx'
import classes from './parts.module.css'

/** What the service refused and why, in its own words, with the id its log knows the request by. */
export function ProblemPanel({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, detail, request_id, errors } = problemOf(error)
  return (
    <div className={classes.problem} role="alert">
      <IconAlertTriangle size={18} aria-hidden />
      <div>
        <strong>{title}</strong>
        {detail !== title && detail !== `${title}.` && <p>{detail}</p>}
        {errors && (
          <ul>
            {errors.map(({ field, message }) => (
              <li key={`${field} ${message}`}>
                <code>{field}</code> {message}
              </li>
            ))}
          </ul>
        )}
        <Group gap="sm" mt={6}>
          {retry && (
            <Button variant="default" onClick={retry}>
              {words.tryAgain}
            </Button>
          )}
          {request_id !== '' && (
            <span className={classes.requestId}>
              {words.requestId} <CopyId id={request_id} short />
            </span>
          )}
        </Group>
      </div>
    </div>
  )
}
