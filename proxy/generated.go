package proxy

import "github.com/seqgate/seqgate/proxy/plan"

// Columns that a generator of the vschema fills. One that takes segments of a counter (redis, leaf, tinyid) is a
// sequence in all but name.

// takeNumbers takes ids of a snowflake: ones that follow each other where the layout has so many, which clients rely
// on that know the first one only.
func (f *idTaker) takeNumbers(p *plan.Fill) (err error) {
	if p.Span() <= p.Binding.Numbers.Longest {
		p.First, err = f.next(p.Binding, p.Span())
		return err
	}
	p.IDs = make([]int64, p.Open)
	if err := p.Binding.Numbers.Fill(f.ctx, p.IDs); err != nil {
		return err
	}
	p.First = p.IDs[0]
	return nil
}

// takeTexts makes ids that are no numbers.
func (f *idTaker) takeTexts(p *plan.Fill) (err error) {
	b := p.Binding
	p.Texts, err = f.srv.cfg.Generators.AppendTexts(nil, p.Open, b.Generator.Type, b.Form)
	return err
}
