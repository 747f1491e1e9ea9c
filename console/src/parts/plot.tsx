import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, type PointerEvent, useId, useState } from 'react'
import { words } from '../words.ts'
import { type Column, DataTable } from './data-table.tsx'
import classes from './plot.module.css'
import { namedPoints, ticksFor } from './plot-scale.ts'

export interface Series {
  name: string
  /** One value for each point; null where there is none, which is drawn as nothing. */
  values: (number | null)[]
}

interface Props {
  label: string
  /** What stands for each point below the plot, and in full. */
  points: { short: string; full: string }[]
  series: Series[]
  as: 'bars' | 'lines'
  format: (value: number) => string
  /** For the axis, where there is little room. */
  short: (value: number) => string
  /** The top of the axis, if it is not the largest value. */
  top?: number
}

const height = 200
const left = 46
const bottom = 20
const tones = ['first', 'second', 'third'] as const

/**
 * Values over time. Pointing at it or the arrow keys choose a point, whose values are then shown above it and read out;
 * a table has all of them. Series differ in pattern as well as in colour.
 */
export function Plot(props: Props) {
  const { label, points, series, format } = props
  const { ref, width } = useElementSize()
  const [chosen, setChosen] = useState<number | undefined>()
  const at = chosen !== undefined && chosen < points.length ? chosen : undefined
  const slot = (width - left) / Math.max(1, points.length)
  const choose = (event: PointerEvent<HTMLElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - left
    const point = Math.floor(x / slot)
    setChosen(point >= 0 && point < points.length ? point : undefined)
  }
  const move = (event: KeyboardEvent) => {
    const to = pointAfter(event.key, at, points.length)
    if (to === undefined) return
    event.preventDefault()
    setChosen(to)
  }
  return (
    <>
      <ul className={classes.legend}>
        {series.map(({ name, values }, n) => {
          const value = at === undefined ? undefined : values[at]
          return (
            <li key={name} className={classes[tones[n] ?? 'first']}>
              <Key tone={n} as={props.as} />
              {name}
              {at !== undefined && (
                <strong>{value === null || value === undefined ? '–' : format(value)}</strong>
              )}
            </li>
          )
        })}
        <li className={classes.at} aria-live="polite">
          {at === undefined ? '' : points[at]?.full}
          {at !== undefined && (
            <span className="mantine-visually-hidden">
              {series.map(({ name, values }) => spoken(name, values[at], format)).join(', ')}
            </span>
          )}
        </li>
      </ul>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it has a name and takes keys, see below */}
      <div
        ref={ref}
        className={classes.plot}
        {...chosenByKeys(words.plot.label(label))}
        onPointerMove={choose}
        onPointerLeave={() => setChosen(undefined)}
        onKeyDown={move}
      >
        {width > 0 ? <Drawing {...props} width={width} at={at} /> : <svg height={height} />}
      </div>
      <details className={classes.fold}>
        <summary>{words.plot.table}</summary>
        <DataTable
          label={label}
          columns={columnsOf(props)}
          rows={points.map((_, n) => n)}
          rowKey={String}
          empty={null}
        />
      </details>
    </>
  )
}

/** A plot has no role of its own: it has a name, and its points are chosen with the arrow keys. */
function chosenByKeys(name: string) {
  return { role: 'group', 'aria-label': name, tabIndex: 0 }
}

function pointAfter(key: string, at: number | undefined, count: number): number | undefined {
  switch (key) {
    case 'ArrowRight':
      return at === undefined ? 0 : Math.min(count - 1, at + 1)
    case 'ArrowLeft':
      return at === undefined ? count - 1 : Math.max(0, at - 1)
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return undefined
  }
}

function spoken(name: string, value: number | null | undefined, format: Props['format']): string {
  return `${name}: ${value === null || value === undefined ? words.plot.none : format(value)}`
}

function columnsOf({ points, series, format }: Props): Column<number>[] {
  return [
    { key: 'at', head: words.plot.when, phone: 'plain', cell: (n) => points[n]?.full },
    ...series.map(({ name, values }) => ({
      key: name,
      head: name,
      right: true,
      cell: (n: number) => {
        const value = values[n]
        return value === null || value === undefined ? '–' : format(value)
      },
    })),
  ]
}

/** How a series looks, beside its name. */
function Key({ tone, as }: { tone: number; as: Props['as'] }) {
  const id = useId()
  return (
    <svg className={classes.key} aria-hidden="true">
      {as === 'lines' ? (
        <line className={classes.line} x1={0} x2={14} y1={5} y2={5} />
      ) : (
        <>
          {tone > 0 && <Hatch id={id} />}
          <Bar x={0.5} y={0.5} width={13} height={9} hatch={tone > 0 ? id : undefined} />
        </>
      )}
    </svg>
  )
}

function Hatch({ id }: { id: string }) {
  return (
    <defs>
      <pattern
        id={id}
        width={5}
        height={5}
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <line className={classes.hatch} x1={0} x2={0} y1={0} y2={5} />
      </pattern>
    </defs>
  )
}

function Bar(props: {
  x: number
  y: number
  width: number
  height: number
  hatch: string | undefined
}) {
  const { hatch, ...place } = props
  return (
    <rect
      {...place}
      className={classes.bar}
      data-hatched={hatch !== undefined || undefined}
      {...(hatch !== undefined && { style: { fill: `url(#${hatch})` } })}
    />
  )
}

/** The axes, the grid with its zero line, and the values. */
function Drawing(props: Props & { width: number; at: number | undefined }) {
  const { points, series, as, width, at, short } = props
  const ticks = ticksFor([...series.flatMap(({ values }) => values), props.top ?? 0])
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)]
  const y = (value: number) => 8 + ((high - value) / (high - low)) * (height - bottom - 8)
  const slot = (width - left) / Math.max(1, points.length)
  const x = (n: number) => left + n * slot
  return (
    <svg height={height} aria-hidden="true">
      {at !== undefined && (
        <rect className={classes.cursor} x={x(at)} y={0} width={slot} height={height - bottom} />
      )}
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            className={tick === 0 ? classes.zero : classes.grid}
            x1={left}
            x2={width}
            y1={y(tick)}
            y2={y(tick)}
          />
          <text className={classes.tick} x={left - 8} y={y(tick) + 4} textAnchor="end">
            {short(tick)}
          </text>
        </g>
      ))}
      {namedPoints(points.length, Math.floor((width - left) / 64)).map((n) => (
        <text
          key={n}
          className={classes.tick}
          x={x(n) + slot / 2}
          y={height - 4}
          textAnchor="middle"
        >
          {points[n]?.short}
        </text>
      ))}
      {series.map(({ name, values }, n) => (
        <g key={name} className={classes[tones[n] ?? 'first']}>
          {as === 'bars' ? (
            <Bars values={values} n={n} of={series.length} x={x} y={y} slot={slot} />
          ) : (
            <Line values={values} x={(point) => x(point) + slot / 2} y={y} />
          )}
        </g>
      ))}
    </svg>
  )
}

interface Scale {
  values: (number | null)[]
  x: (point: number) => number
  y: (value: number) => number
}

function Bars({ values, n, of, x, y, slot }: Scale & { n: number; of: number; slot: number }) {
  const id = useId()
  const wide = Math.min(22, (slot * 0.8) / of)
  const start = (slot - wide * of) / 2 + n * wide
  return (
    <>
      {n > 0 && <Hatch id={id} />}
      {values.map((value, point) =>
        value === null || value === 0 ? null : (
          <Bar
            // biome-ignore lint/suspicious/noArrayIndexKey: a point is its place
            key={point}
            x={x(point) + start}
            y={Math.min(y(value), y(0))}
            width={Math.max(1, wide - 1)}
            height={Math.max(1, Math.abs(y(value) - y(0)))}
            hatch={n > 0 ? id : undefined}
          />
        ),
      )}
    </>
  )
}

/** Straight lines between points that follow each other: where there is no value, there is no line. */
function Line({ values, x, y }: Scale) {
  let path = ''
  values.forEach((value, point) => {
    if (value === null) return
    const isJoined = point > 0 && values[point - 1] !== null
    path += `${isJoined ? 'L' : 'M'}${x(point)} ${y(value)}`
  })
  return (
    <>
      <path className={classes.line} d={path} />
      {values.map((value, point) =>
        value === null ? null : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a point is its place
          <circle key={point} className={classes.dot} cx={x(point)} cy={y(value)} r={2.5} />
        ),
      )}
    </>
  )
}
