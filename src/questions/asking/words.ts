import { UsageError } from '../../base/errors.ts'
import { nameColumn, type Question, usageOf } from '../questions.ts'
import type { Given } from './ask.ts'

/**
 * The words of the command: arguments of a function by their places, `column=value` for filters of its rows. The first word of a view
 * may be a name alone.
 * @throws UsageError for a word that is none of these
 */
export function givenWords(question: Question, words: readonly string[]): Given {
  const { kind, parameters, columns } = question
  const narrowing: [string, string][] = []
  const args = words.filter((word, place) => {
    const [, name = '', value = ''] = /^([a-z_0-9]+)=(.*)$/s.exec(word) ?? []
    const first = kind === 'view' && place === 0 && name === '' ? nameColumn(question) : undefined
    const isColumn = columns.some((one) => one.name === name) && !parameters.some((one) => one.name === name)
    if (first) return void narrowing.push([first.name, `eq.${word}`])
    if (kind === 'view' && name === '') {
      throw new UsageError(`${question.name} cannot be narrowed down by ${word}\n${usageOf(question)}`)
    }
    if (kind === 'view' || isColumn || /^(order|select)$/.test(name)) return void narrowing.push([name, value])
    return true
  })
  const isShape = ([name]: readonly [string, string]) => /^(order|select)$/.test(name)
  const shape = narrowing.filter(isShape)
  const twice = shape.find(([name], place) => shape.findIndex(([one]) => one === name) !== place)
  if (twice) throw new UsageError(`${twice[0]} is given twice`)
  return { args, filters: narrowing.filter((one) => !isShape(one)), ...Object.fromEntries(shape) }
}
