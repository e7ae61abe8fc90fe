import { byTopic } from '../../../analytics/catalogue.ts'
import type { Question } from '../../../analytics/questions.ts'
import { formatTable } from '../../output/table.ts'

/** All questions by topic, each with the first sentence of its comment. */
export function questionList(questions: readonly Question[]): string {
  const blocks = byTopic(questions).map(({ number, title, members }) => {
    const heading = /^\d/.test(number) ? `${number}. ${title}` : title
    const rows = members.map(({ name, kind, parameters, comment }) => ({
      question: `  ${kind === 'view' ? name : `${name}(${parameters.map((parameter) => parameter.name).join(', ')})`}`,
      meaning: comment?.split(/(?<=\.) /)[0] ?? '',
    }))
    return `${heading}\n${formatTable(['question', 'meaning'], rows).replace(/^.*\n/, '')}`
  })
  return `${blocks.join('\n')}\nwynnsync query <question> [arguments]; of a view, a name, then column=value\n`
}
