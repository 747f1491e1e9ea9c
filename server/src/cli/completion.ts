import { Argument, Command } from 'commander'
import { print } from './output.ts'

/** A position in the tree of commands: what can be typed there. */
export interface Place {
  /** The words that lead to it; empty for the program itself. */
  words: string[]
  commands: { name: string; description: string }[]
  options: TypedOption[]
  /** The possible values of its arguments, if known. */
  values: string[]
}

interface TypedOption {
  name: string
  description: string
  /** Whether the option takes a value. */
  takesValue: boolean
  /** The possible values, if known. */
  values: string[]
  isFile: boolean
}

const shells = ['bash', 'zsh', 'fish'] as const

export function completionCommand(loadAll: () => Promise<Command>): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .addHelpText(
      'after',
      `
  bash  source <(sluice completion bash)
  zsh   source <(sluice completion zsh)
  fish  sluice completion fish | source`,
    )
    .action(async (shell: (typeof shells)[number]) => {
      const places = placesOf(await loadAll())
      const script = { bash: bashScript, zsh: zshScript, fish: fishScript }[shell]
      print(script(places))
    })
}

/** Lists every position in a tree of commands, starting at its root. */
export function placesOf(command: Command, words: string[] = []): Place[] {
  const inside = command.commands.map((each) => ({
    name: each.name(),
    description: each.description(),
  }))
  const values = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  const options = command.options.map((option) => ({
    name: option.long ?? option.short ?? '',
    description: option.description,
    takesValue: option.required || option.optional,
    values: option.argChoices ?? [],
    isFile: /[<[]file\b/.test(option.flags),
  }))
  options.push({
    name: '--help',
    description: 'display help for command',
    takesValue: false,
    values: [],
    isFile: false,
  })
  return [
    { words, commands: inside, options, values },
    ...command.commands.flatMap((each) => placesOf(each, [...words, each.name()])),
  ]
}

const pathOf = ({ words }: Place) => words.map((word) => ` ${word}`).join('')
const offered = ({ commands, values, options }: Place) =>
  [...commands, ...options].map(({ name }) => name).concat(values)
const below = (places: Place[]) => places.filter(({ words }) => words.length > 0)

/**
 * Shell cases for the option just typed: its known values, a file, or nothing if the values are unknown.
 */
function valueCases(
  places: Place[],
  choose: (values: string[]) => string,
  files: string,
  nothing: string,
): string[] {
  return places.flatMap((place) =>
    place.options
      .filter(({ takesValue }) => takesValue)
      .map(({ name, values, isFile }) => {
        const then = values.length > 0 ? choose(values) : isFile ? files : nothing
        return `    '${pathOf(place)} ${name}') ${then}; return ;;`
      }),
  )
}

/** Shell cases that follow the typed words down the tree. */
const wordCases = (places: Place[]) =>
  below(places).map((place) => `      '${pathOf(place)}') place="$place $word" ;;`)

function bashScript(places: Place[]): string {
  return `# bash completion for sluice
_sluice() {
  local place='' word current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} offered=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
${wordCases(places).join('\n')}
    esac
  done
  COMPREPLY=()
  case "$place $before" in
${valueCases(
  places,
  (values) => `COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$current"))`,
  'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current"))',
  ':',
).join('\n')}
  esac
  case "$place" in
${places.map((place) => `    '${pathOf(place)}') offered='${offered(place).join(' ')}' ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -F _sluice sluice`
}

function zshScript(places: Place[]): string {
  const described = ({ commands, options, values }: Place) =>
    [...commands, ...options, ...values.map((name) => ({ name, description: '' }))]
      .map(({ name, description }) => quoted(`${name.replaceAll(':', '\\:')}:${description}`))
      .join(' ')
  return `#compdef sluice
_sluice() {
  local place='' word current=$words[CURRENT] before=$words[CURRENT-1]
  local -a offered
  for word in \${words[2,CURRENT-1]}; do
    case "$place $word" in
${wordCases(places).join('\n')}
    esac
  done
  case "$place $before" in
${valueCases(places, (values) => `compadd -- ${values.join(' ')}`, '_files', ':').join('\n')}
  esac
  case "$place" in
${places.map((place) => `    '${pathOf(place)}') offered=(${described(place)}) ;;`).join('\n')}
  esac
  _describe 'sluice' offered
}
compdef _sluice sluice`
}

function fishScript(places: Place[]): string {
  const lines = places.flatMap((place) => {
    const here = `complete -c sluice -n '__sluice_at ${quoted(pathOf(place)).replaceAll("'", '"')}'`
    return [
      ...place.commands.map(
        ({ name, description }) => `${here} -f -a ${name} -d ${quoted(description)}`,
      ),
      ...place.values.map((value) => `${here} -f -a '${value}'`),
      ...place.options.map((option) => {
        const value = option.values.length > 0 ? ` -a '${option.values.join(' ')}'` : ''
        const takes = option.takesValue ? (option.isFile ? ' -r -F' : ' -x') : ''
        return `${here} -l ${option.name.slice(2)}${takes}${value} -d ${quoted(option.description)}`
      }),
    ]
  })
  return `# fish completion for sluice
function __sluice_at
  set -l place ''
  for word in (commandline -opc)[2..]
    if contains -- "$place $word" ${below(places)
      .map((place) => quoted(pathOf(place)))
      .join(' ')}
      set place "$place $word"
    end
  end
  test "$place" = "$argv[1]"
end
complete -c sluice -f
${lines.join('\n')}`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "'\\''")}'`
}
