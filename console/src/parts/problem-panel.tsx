import { Button, Group } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { problemOf } from '../api.ts'
import { words } from '../words.ts'
import { CopyId } from './copy-id.tsx'
import classes from './parts.module.css'

/** Shows why the service refused a request, in its own words, with the request id for its log. */
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
