package browsertest

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"slices"
)

// Two pictures differ if some cells beside each other have clearly another colour on
// average. One cell may: fonts are drawn a little differently elsewhere.
const (
	cell       = 6  // pixels of a side
	cellOff    = 24 // of 255
	cellsOff   = 5  // beside each other
	noCellsOff = 0
)

// difference returns where two pictures differ most, and in how many cells beside each other;
// none where they look alike.
func difference(a, b image.Image) (at image.Point, cells int) {
	if a.Bounds() != b.Bounds() {
		return a.Bounds().Size(), a.Bounds().Dx() * a.Bounds().Dy()
	}
	x, y := shrink(a), shrink(b)
	size := x.Bounds().Size()
	off := make([]bool, size.X*size.Y)
	for i := range off {
		p := i * 4
		for c := range 3 {
			off[i] = off[i] || max(x.Pix[p+c], y.Pix[p+c])-min(x.Pix[p+c], y.Pix[p+c]) > cellOff
		}
	}
	for start := range off {
		n := 0
		for list := []int{start}; len(list) > 0; {
			i := list[len(list)-1]
			list = list[:len(list)-1]
			if !off[i] {
				continue
			}
			off[i] = false
			n++
			for dy := -1; dy <= 1; dy++ {
				for dx := -1; dx <= 1; dx++ {
					if p := image.Pt(i%size.X+dx, i/size.X+dy); p.In(x.Bounds()) {
						list = append(list, p.Y*size.X+p.X)
					}
				}
			}
		}
		if n > cells {
			cells, at = n, image.Pt(start%size.X, start/size.X).Mul(cell)
		}
	}
	if cells < cellsOff {
		return image.Point{}, noCellsOff
	}
	return at, cells
}

// shrink makes one pixel of each cell.
func shrink(from image.Image) *image.RGBA {
	size := from.Bounds().Size().Div(cell)
	to := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			var sum [3]uint32
			for dy := range cell {
				for dx := range cell {
					r, g, b, _ := from.At(x*cell+dx, y*cell+dy).RGBA()
					sum[0], sum[1], sum[2] = sum[0]+r>>8, sum[1]+g>>8, sum[2]+b>>8
				}
			}
			const n = cell * cell
			to.Set(x, y, color.RGBA{R: uint8(sum[0] / n), G: uint8(sum[1] / n), B: uint8(sum[2] / n), A: 255})
		}
	}
	return to
}

// encode returns a picture as a PNG of 256 colours, which is much smaller. What's most frequent
// keeps its own colour; what's left, the edges of letters, gets the nearest of those that
// differ most.
func encode(picture image.Image) []byte {
	bounds := picture.Bounds()
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA) }
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			count[at(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	const most, own = 256, 160
	kept := slices.Clone(all[:min(len(all), own)])
	nearest := make([]int, len(all)) // of those kept, and how far it is
	far := make([]int, len(all))
	for i, one := range all {
		far[i] = math.MaxInt
		for k, other := range kept {
			if d := apart(one, other); d < far[i] {
				far[i], nearest[i] = d, k
			}
		}
	}
	for len(kept) < min(most, len(all)) {
		furthest := 0
		for i := range all {
			if far[i] > far[furthest] {
				furthest = i
			}
		}
		if far[furthest] == 0 {
			break
		}
		kept = append(kept, all[furthest])
		for i, one := range all {
			if d := apart(one, all[furthest]); d < far[i] {
				far[i], nearest[i] = d, len(kept)-1
			}
		}
	}
	palette := make(color.Palette, len(kept))
	for i, one := range kept {
		palette[i] = one
	}
	index := map[color.RGBA]uint8{}
	for i, one := range all {
		index[one] = uint8(nearest[i])
	}
	to := image.NewPaletted(bounds, palette)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			to.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, to) // into memory
	return b.Bytes()
}

// apart returns how far two colours are apart, of 255.
func apart(a, b color.RGBA) int {
	off := func(x, y uint8) int { return int(max(x, y)) - int(min(x, y)) }
	return max(off(a.R, b.R), off(a.G, b.G), off(a.B, b.B))
}
