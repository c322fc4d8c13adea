/** A technical term that shows its definition when pressed. */
import './term.css';
import { useState } from 'preact/hooks';

const meanings = {
  origin: 'the address of a website up to its first path, such as https://www.example.com',
  entry: 'one line of the log: a decision, a notice that was shown, or an erasure',
  sealed: 'entered into a signed log, in which nothing can be changed or removed without showing',
  checkpoint: 'the signed state of the log at one moment: its length, and one hash of everything in it',
  'verifier key': 'the public key with which anybody checks who signed the log',
};

interface Props {
  of: keyof typeof meanings;
  /** the form of the word in the sentence */
  text?: string;
}

export function Term({ of, text = of }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="term" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {text}
      </button>
      {isOpen && <span class="term-meaning"> ({meanings[of]})</span>}
    </>
  );
}
