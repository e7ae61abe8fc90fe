import { UsageError } from '../../../base/errors.ts'
import type { Context } from '../../context.ts'

/*
 * Short scripts of our own: those of libraries hand the candidates to `compgen -W` or `eval`, which run what stands in a name.
 */

/** Names are quoted as the word that they complete is, and left out where that cannot be. */
const bash = String.raw`_wynnsync() {
  local candidate quoted word=${'$'}{COMP_WORDS[COMP_CWORD]} unsafe='*[\\"$!${'`'}]*'
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    case $word in
      \"*) [[ $candidate == $unsafe ]] && continue; quoted=$candidate ;;
      \'*) [[ $candidate == *\'* ]] && continue; quoted=$candidate ;;
      *) printf -v quoted %q "$candidate" ;;
    esac
    COMPREPLY+=("$quoted")
  done < <(wynnsync __complete -- "${'$'}{COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _wynnsync wynnsync
`

const zsh = String.raw`#compdef wynnsync
_wynnsync() {
  local line
  local -a described
  while IFS= read -r line; do
    described+=("${'$'}{${'$'}{line%%$'\t'*}//:/\\:}:${'$'}{line#*$'\t'}")
  done < <(wynnsync __complete -- "${'$'}{(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#described )) && _describe wynnsync described || _files
}
compdef _wynnsync wynnsync
`

const fish = `complete -c wynnsync -f -a '(wynnsync __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish }

export const shells = Object.keys(scripts)

/** `completion <shell>`: prints its script. */
export async function completionCommand({ out }: Context, _flags: object, shell: string): Promise<void> {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script === undefined) throw new UsageError(`the shell must be ${shells.join(', ')}, got ${shell}`)
  out.write(script)
}
