package usage

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/yamlerror"
)

//go:embed prices.yaml
var builtinPrices []byte

// PricesFile is your own table of prices, in the config folder.
const PricesFile = "usage-prices.yaml"

// MaxPricesFile bounds it.
const MaxPricesFile = 1 << 20

// Price is the cost of a model, in dollars for a million tokens.
type Price struct {
	Models       []string `yaml:"models"`
	Input        float64  `yaml:"input"`
	Output       float64  `yaml:"output"`
	CacheRead    *float64 `yaml:"cache_read"`
	CacheWrite   *float64 `yaml:"cache_write"`
	CacheWrite1h *float64 `yaml:"cache_write_1h"`
	Fast         float64  `yaml:"fast"`
	Above        *Tier    `yaml:"above"`
	Window       int64    `yaml:"window"`
}

// Tier is the price of a call whose whole prompt is longer.
type Tier struct {
	Tokens int64   `yaml:"tokens"`
	Input  float64 `yaml:"input"`
	Output float64 `yaml:"output"`
}

// Prices is a dated table.
type Prices struct {
	Date   string
	models map[string]*Price
}

type pricesFile struct {
	Date   string  `yaml:"date"`
	Prices []Price `yaml:"prices"`
}

// BuiltinPrices is the table that comes with this program.
var BuiltinPrices = sync.OnceValue(func() *Prices {
	p := &Prices{models: map[string]*Price{}}
	if err := p.read(builtinPrices); err != nil {
		panic("prices.yaml: " + err.Error())
	}
	return p
})

// ReadPrices reads your own table over the built-in one; nil is none. With an error the
// table is the built-in one.
func ReadPrices(own []byte) (*Prices, error) {
	if own == nil {
		return BuiltinPrices(), nil
	}
	p := &Prices{models: map[string]*Price{}}
	if err := errors.Join(p.read(builtinPrices), p.read(own)); err != nil {
		return BuiltinPrices(), err
	}
	return p, nil
}

// CheckPrices returns what is wrong with a table.
func CheckPrices(own []byte) error {
	_, err := ReadPrices(own)
	return err
}

// LoadPrices reads your own table as it is in the config folder.
func LoadPrices(configDir string) ([]byte, error) {
	data, err := files.ReadLinked(filepath.Join(configDir, PricesFile), MaxPricesFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

func (p *Prices) read(data []byte) error {
	var f pricesFile
	if err := yaml.UnmarshalWithOptions(data, &f, yaml.Strict()); err != nil {
		return yamlerror.InLine(err)
	}
	if f.Date != "" {
		p.Date = f.Date
	}
	for i := range f.Prices {
		one := &f.Prices[i]
		if len(one.Models) == 0 {
			return fmt.Errorf("price %d names no models", i+1)
		}
		if one.Input <= 0 || one.Output <= 0 || one.Above != nil &&
			(one.Above.Tokens <= 0 || one.Above.Input <= 0 || one.Above.Output <= 0) {
			return fmt.Errorf("%s: prices must be above zero", one.Models[0])
		}
		for _, name := range one.Models {
			name = strings.ToLower(name)
			model := *one
			if known := p.models[name]; known != nil && model.Window == 0 {
				model.Window = known.Window // your own price says nothing about it
			}
			p.models[name] = &model
		}
	}
	return nil
}

// Find returns the price of a model, by the name an agent wrote down: with a provider before it, a
// date after it, or a note about its context in brackets.
func (p *Prices) Find(model string) (*Price, bool) {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	for _, prefix := range []string{"us.", "eu.", "apac.", "global.", "anthropic."} {
		name = strings.TrimPrefix(name, prefix)
	}
	name, _, _ = strings.Cut(name, "[")
	name, _, _ = strings.Cut(name, "@")
	if one, ok := p.models[name]; ok {
		return one, true
	}
	base, last, ok := cutLast(name)
	for ok && (isVersion(last) || isDate(last) || last == "latest") {
		if one, found := p.models[base]; found && last != "" && !isSmallNumber(last) {
			return one, true
		}
		base, last, ok = cutLast(base)
	}
	return nil, false
}

func cutLast(name string) (base, last string, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

func isDate(s string) bool { return len(s) == 8 && strings.Trim(s, "0123456789") == "" }

// isVersion reports whether s is a version like Bedrock's v1:0.
func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789:") == ""
}

func isSmallNumber(s string) bool { return len(s) < 8 && strings.Trim(s, "0123456789") == "" }

// Cost returns what a call cost: what the agent wrote down, or what the table says; false
// where neither does.
func (p *Prices) Cost(c *Call) (float64, bool) {
	if c.Cost > 0 {
		return c.Cost, true
	}
	one, ok := p.Find(c.Model)
	if !ok {
		return 0, false
	}
	return one.cost(c.Tokens, c.Fast, !c.Sum), true
}

// cost prices tokens. Only of a single call is it known how long its prompt was.
func (one *Price) cost(t Tokens, fast, single bool) float64 {
	input, output := one.Input, one.Output
	if one.Above != nil && single && t.Prompt() > one.Above.Tokens {
		input, output = one.Above.Input, one.Above.Output
	}
	dollars := (float64(t.Input) + float64(t.CacheRead)*factor(one.CacheRead, 0.1) +
		float64(t.CacheWrite)*factor(one.CacheWrite, 1.25) +
		float64(t.CacheWrite1h)*factor(one.CacheWrite1h, 2)) * input
	dollars += float64(t.Output) * output
	if fast && one.Fast > 0 {
		dollars *= one.Fast
	}
	return dollars / 1e6
}

func factor(f *float64, otherwise float64) float64 {
	if f == nil {
		return otherwise
	}
	return *f
}
