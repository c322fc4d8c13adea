/** Shows all of a list before it is printed: on paper nothing can be clicked. */
import { options } from 'preact';
import { useEffect } from 'preact/hooks';

export function useOnPaper(showAll: () => void): void {
  useEffect(() => {
    const showNow = () => {
      const usual = options.debounceRendering;
      // the browser draws the paper as soon as this returns
      options.debounceRendering = (render) => render();
      showAll();
      if (usual) options.debounceRendering = usual;
      else delete options.debounceRendering;
    };
    addEventListener('beforeprint', showNow);
    return () => removeEventListener('beforeprint', showNow);
  }, []);
}
